// The bench itself: starts everybody, checks everybody, then measures them in turn, round after round.
import { YARDSTICK } from '../contestants/all.ts';
import { engineAnswer } from '../contestants/contestant.ts';
import type { Contestant, Running } from '../contestants/contestant.ts';
import { SAMPLE_BODY, SAMPLE_CHARACTERS, SAMPLE_TEXT } from '../contestants/sample.ts';
import type { LoadTarget } from '../load/load-job.ts';
import { describeMachine } from '../machine/description.ts';
import { memoryKib } from '../machine/process-tree.ts';
import { Arena } from './arena.ts';
import { checkAnswers } from './check-answers.ts';
import { measureClosed, measureOpen, sampleTarget } from './measure.ts';
import type { Measured } from './measure.ts';
import { median } from './median.ts';
import type { BenchResult, BenchSettings, ContestantResult } from './results.ts';

export interface BenchPlan extends Omit<BenchSettings, 'bodyBytes'> {
  readonly contestants: readonly Contestant[];
  /** Rounds at a steady rate. */
  readonly openRounds: number;
  /** So many requests, or so long, before a contestant's first round: compilers work by counts. */
  readonly warmRequests: number;
  readonly warmMsMax: number;
}

const WARM_STEP_MS = 500;

/** Told what is going on, for whoever waits. */
export type Progress = (line: string) => void;

interface Entrant {
  readonly running: Running;
  readonly target: LoadTarget;
  readonly result: ContestantResult;
  /** Characters of all texts answered 200 so far. */
  delivered: number;
}

export async function runBench(plan: BenchPlan, progress: Progress): Promise<BenchResult> {
  const machine = await describeMachine();
  const arena = await Arena.open(plan);
  try {
    const leftOut: { name: string; reason: string }[] = [];
    const entrants: Entrant[] = [];
    for (const contestant of plan.contestants) {
      const running = await arena.start(contestant);
      if (typeof running === 'string') leftOut.push({ name: contestant.name, reason: running });
      else entrants.push(await enter(arena, contestant, running, plan));
      progress(typeof running === 'string' ? `${contestant.name}: left out: ${running}` : `${contestant.name}: answers checked, warm`);
    }
    await closedRounds(arena, entrants, plan, progress);
    await steadyRounds(arena, entrants, plan, progress);
    for (const entrant of entrants) await conclude(entrant, plan);
    const results = entrants.map(({ result }) => result);
    return { machine, settings: settingsOf(plan), contestants: results, leftOut };
  } finally {
    await arena.close();
  }
}

function settingsOf({ load, connections, teams, rounds, closedMs, openMs, steadyPerSecond }: BenchPlan): BenchSettings {
  return { load, connections, teams, rounds, closedMs, openMs, steadyPerSecond, bodyBytes: SAMPLE_BODY.length };
}

async function enter(arena: Arena, { name, does }: Contestant, running: Running, plan: BenchPlan): Promise<Entrant> {
  const result: ContestantResult = { name, does, rounds: [], steady: [], half: [], peakMemoryKib: 0, faults: [] };
  const entrant: Entrant = { running, target: sampleTarget(running, plan.connections), result, delivered: 0 };
  entrant.delivered += await checkAnswers(running).catch((error: unknown) => {
    throw new Error(`${name} answers wrongly: ${error instanceof Error ? error.message : 'no answer'}`, { cause: error });
  });
  await warm(arena, entrant, plan);
  return entrant;
}

async function warm(arena: Arena, entrant: Entrant, { warmRequests, warmMsMax }: BenchPlan): Promise<void> {
  const until = performance.now() + warmMsMax;
  for (let requests = 0; requests < warmRequests && performance.now() < until;) {
    const measured = await measureClosed(arena.load, entrant.running, entrant.target, { durationMs: WARM_STEP_MS, by: 'own' });
    note(entrant, measured);
    requests += measured.answers;
  }
}

async function closedRounds(arena: Arena, entrants: readonly Entrant[], plan: BenchPlan, progress: Progress): Promise<void> {
  for (let round = 1; round <= plan.rounds; round++) {
    const seen: string[] = [];
    for (const entrant of entrants) {
      const measured = await measureClosed(arena.load, entrant.running, entrant.target, { durationMs: plan.closedMs, by: plan.load });
      note(entrant, measured);
      entrant.result.rounds.push(measured.sample);
      seen.push(`${entrant.result.name} ${measured.sample.cpuUsPerRequest.toFixed(1)}`);
    }
    progress(`round ${round}/${plan.rounds}, µs of CPU a request: ${seen.join(', ')}`);
  }
}

async function steadyRounds(arena: Arena, entrants: readonly Entrant[], plan: BenchPlan, progress: Progress): Promise<void> {
  for (let round = 1; round <= plan.openRounds; round++) {
    for (const entrant of entrants) {
      const { result, target } = entrant;
      const steady = await measureOpen(arena.load, target, plan.openMs, plan.steadyPerSecond);
      note(entrant, steady);
      result.steady.push(steady.sample);
      if (!isComparedWithEngine(result.name)) continue;
      const rate = Math.round(median(result.rounds.map(({ perSecond }) => perSecond)) / 2);
      const through = await measureOpen(arena.load, target, plan.openMs, rate);
      note(entrant, through);
      const direct = await measureOpen(arena.load, engineTarget(arena, plan.connections), plan.openMs, rate);
      result.half.push({ through: through.sample, direct: direct.sample });
    }
    progress(`steady round ${round}/${plan.openRounds} done`);
  }
}

function isComparedWithEngine(name: string): boolean {
  return name === YARDSTICK || (name.startsWith('lingate') && !name.endsWith('429'));
}

function engineTarget({ engine }: Arena, connections: number): LoadTarget {
  return {
    port: engine.port,
    path: '/translate',
    connections,
    authorizations: [''],
    body: SAMPLE_BODY,
    expected: engineAnswer([SAMPLE_TEXT]),
  };
}

function note(entrant: Entrant, { answers, fault }: Measured<unknown>): void {
  entrant.delivered += answers * SAMPLE_CHARACTERS;
  if (fault !== undefined) entrant.result.faults.push(fault);
}

async function conclude({ running, result, delivered }: Entrant, { load }: BenchPlan): Promise<void> {
  result.peakMemoryKib = memoryKib(running.gatewayPid, 'VmHWM');
  // autocannon drops what is under way when its time is up: nobody knows then which of those were delivered.
  if (load === 'autocannon') return;
  await running
    .audit?.(delivered)
    .catch((error: unknown) => result.faults.push(error instanceof Error ? error.message : 'the books could not be read'));
}
