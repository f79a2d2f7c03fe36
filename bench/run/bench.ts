// The bench itself: starts and checks all contestants, then measures them in turn, round after round.
import { unsettledNames } from '../aims/aims.ts';
import { YARDSTICK } from '../contestants/all.ts';
import type { Contestant } from '../contestants/contestant.ts';
import { SAMPLE_BODY } from '../contestants/sample.ts';
import { describeMachine } from '../machine/description.ts';
import { Arena } from './arena.ts';
import { Patience } from './calm.ts';
import { closedRound, extraRounds } from './closed-rounds.ts';
import { conclude, enter } from './entrant.ts';
import type { Entrant, WarmUp } from './entrant.ts';
import { halfRound, singleRound, steadyRound } from './latency-rounds.ts';
import type { BenchResult, BenchSettings } from './results.ts';
import { storeMemory } from './store-memory.ts';

export interface BenchPlan extends Omit<BenchSettings, 'bodyBytes'>, WarmUp {
  readonly contestants: readonly Contestant[];
  /** Rounds at a steady rate, of latency at half of capacity, and of one request at a time. */
  readonly steadyRounds: number;
  readonly latencyRounds: number;
  readonly singleMs: number;
  /** How often one measurement may be made, and how long repeats may take in all. */
  readonly triesMax: number;
  readonly againMsMax: number;
  /** More rounds for figures that vary too much. */
  readonly extraRoundsMax: number;
  readonly extraMsMax: number;
  /** Teams created to measure the memory that each takes; 0 skips this. */
  readonly memoryTeams: number;
}

/** Reports progress. */
export type Progress = (line: string) => void;

/** Contestants whose latency is compared with the engine's own. */
const TIMED: ReadonlySet<string> = new Set([YARDSTICK, 'lingate-redis', 'lingate-redis-batch', 'lingate-sqlite']);
const TIMED_ALONE: ReadonlySet<string> = new Set([YARDSTICK, 'lingate-redis', 'lingate-sqlite']);

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
    const results = entrants.map(({ result }) => result);
    const patience = new Patience(plan.triesMax, plan.againMsMax);
    for (let round = 1; round <= plan.rounds; round++) {
      progress(`round ${round}/${plan.rounds}, µs of CPU a request: ${await closedRound(arena, entrants, round, patience, plan)}`);
    }
    const extra = {
      first: plan.rounds + 1,
      roundsMax: plan.extraRoundsMax,
      msMax: plan.extraMsMax,
      unsettled: () => unsettledNames(results),
    };
    await extraRounds(arena, entrants, extra, patience, plan, progress);
    for (let round = 1; round <= plan.steadyRounds; round++) await steadyRound(arena, entrants, plan.openMs, plan.steadyPerSecond);
    for (let round = 1; round <= plan.latencyRounds; round++) {
      await halfRound(arena, only(entrants, TIMED), plan.openMs, patience);
      await singleRound(arena, only(entrants, TIMED_ALONE), plan.singleMs, patience);
      progress(`latency round ${round}/${plan.latencyRounds} done`);
    }
    for (const entrant of entrants) await conclude(entrant, plan.load);
    const memory = plan.memoryTeams === 0 ? [] : await storeMemory(arena, plan.memoryTeams, progress);
    return { machine, settings: settingsOf(plan), contestants: results, memory, leftOut };
  } finally {
    await arena.close();
  }
}

function only(entrants: readonly Entrant[], names: ReadonlySet<string>): Entrant[] {
  return entrants.filter(({ result }) => names.has(result.name));
}

function settingsOf({ load, connections, teams, rounds, closedMs, openMs, steadyPerSecond }: BenchPlan): BenchSettings {
  return { load, connections, teams, rounds, closedMs, openMs, steadyPerSecond, bodyBytes: SAMPLE_BODY.length };
}
