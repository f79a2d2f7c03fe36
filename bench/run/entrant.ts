// A contestant that takes part: running, checked, warm, and its measurements so far.
import type { Contestant, Running } from '../contestants/contestant.ts';
import { SAMPLE_CHARACTERS } from '../contestants/sample.ts';
import type { LoadTarget } from '../load/load-job.ts';
import { memoryKib } from '../machine/process-tree.ts';
import type { Arena } from './arena.ts';
import { checkAnswers } from './check-answers.ts';
import { measureClosed, sampleTarget } from './measure.ts';
import type { Measured } from './measure.ts';
import type { ContestantResult } from './results.ts';

export interface Entrant {
  readonly running: Running;
  readonly target: LoadTarget;
  readonly result: ContestantResult;
  /** Characters of all texts answered 200 so far. */
  delivered: number;
}

export interface WarmUp {
  readonly connections: number;
  /** This many requests, or this long, before a contestant's first round: compilers work by counts. */
  readonly warmRequests: number;
  readonly warmMsMax: number;
}

const WARM_STEP_MS = 500;
/** Each team must have sent a request, as its key is looked up then; and the time limit for that. */
export const ROUNDS_OF_TEAMS = 1.2;
export const WARM_TEAMS_MS_MAX = 40_000;

export async function enter(arena: Arena, { name, does }: Contestant, running: Running, warmUp: WarmUp): Promise<Entrant> {
  const result: ContestantResult = { name, does, rounds: [], steady: [], half: [], single: [], peakMemoryKib: 0, faults: [] };
  const entrant: Entrant = { running, target: sampleTarget(running, warmUp.connections), result, delivered: 0 };
  entrant.delivered += await checkAnswers(running).catch((error: unknown) => {
    throw new Error(`${name} gives wrong answers: ${error instanceof Error ? error.message : 'no answer'}`, { cause: error });
  });
  await warm(arena, entrant, warmUp);
  return entrant;
}

async function warm(arena: Arena, entrant: Entrant, { warmRequests, warmMsMax }: WarmUp): Promise<void> {
  const forTeams = entrant.running.authorizations.length * ROUNDS_OF_TEAMS;
  const startedMs = performance.now();
  for (let requests = 0; requests < Math.max(forTeams, warmRequests);) {
    if (performance.now() - startedMs > (requests < forTeams ? WARM_TEAMS_MS_MAX : warmMsMax)) return;
    const measured = await measureClosed(arena.load, entrant.running, entrant.target, { durationMs: WARM_STEP_MS, by: 'own' });
    note(entrant, measured);
    requests += measured.answers;
  }
}

/** Every right answer was delivered, even in a discarded measurement. */
export function note(entrant: Entrant, { answers, fault }: Pick<Measured<unknown>, 'answers' | 'fault'>): void {
  entrant.delivered += answers * SAMPLE_CHARACTERS;
  if (fault !== undefined) entrant.result.faults.push(fault);
}

/** Peak memory, and the accounts compared with what was delivered. */
export async function conclude({ running, result, delivered }: Entrant, load: 'own' | 'autocannon'): Promise<void> {
  result.peakMemoryKib = memoryKib(running.gatewayPid, 'VmHWM');
  // autocannon abandons requests in flight when its time is up: which of those were delivered is then unknown.
  if (load === 'autocannon') return;
  await running
    .audit?.(delivered)
    .catch((error: unknown) => result.faults.push(error instanceof Error ? error.message : 'the accounts could not be read'));
}
