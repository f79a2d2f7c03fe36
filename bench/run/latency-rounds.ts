// What a gateway adds to calling the engine directly: at half of its capacity, and with one request at a time.
import { engineAnswer } from '../contestants/contestant.ts';
import { SAMPLE_BODY, SAMPLE_TEXT } from '../contestants/sample.ts';
import type { Latency } from '../load/histogram.ts';
import type { LoadTarget } from '../load/load-job.ts';
import { usageOf } from '../machine/process-tree.ts';
import type { Arena } from './arena.ts';
import type { Patience } from './calm.ts';
import { note } from './entrant.ts';
import type { Entrant } from './entrant.ts';
import { median } from './median.ts';
import { measureOpen, measureSingle } from './measure.ts';
import type { AddedSample } from './results.ts';

export async function steadyRound(arena: Arena, entrants: readonly Entrant[], openMs: number, perSecond: number): Promise<void> {
  for (const entrant of entrants) {
    const steady = await measureOpen(arena.load, entrant.target, openMs, perSecond);
    note(entrant, steady);
    entrant.result.steady.push(steady.sample);
  }
}

export async function halfRound(arena: Arena, entrants: readonly Entrant[], openMs: number, patience: Patience): Promise<void> {
  for (const entrant of entrants) {
    const rate = Math.round(median(entrant.result.rounds.map(({ perSecond }) => perSecond)) / 2);
    const added = await addedBy(entrant, patience, rate, {
      through: async () => {
        const measured = await measureOpen(arena.load, entrant.target, openMs, rate);
        note(entrant, measured);
        return measured.sample.latency;
      },
      direct: async () => (await measureOpen(arena.load, engineTarget(arena, entrant.target.connections), openMs, rate)).sample.latency,
    });
    entrant.result.half.push(added);
  }
}

export async function singleRound(arena: Arena, entrants: readonly Entrant[], durationMs: number, patience: Patience): Promise<void> {
  for (const entrant of entrants) {
    const added = await addedBy(entrant, patience, 0, {
      through: async () => {
        const measured = await measureSingle(arena.load, { ...entrant.target, connections: 1 }, durationMs);
        note(entrant, measured);
        return measured.sample.latency;
      },
      direct: async () => (await measureSingle(arena.load, engineTarget(arena, 1), durationMs)).sample.latency,
    });
    entrant.result.single.push(added);
  }
}

interface Ways {
  readonly through: () => Promise<Latency>;
  readonly direct: () => Promise<Latency>;
}

async function addedBy({ running }: Entrant, patience: Patience, perSecond: number, ways: Ways): Promise<AddedSample> {
  const { result, calmness } = await patience.calmest(async () => {
    const [startedUs, waitedUs] = [performance.now() * 1000, usageOf(running.gatewayPid).waitedUs];
    const through = await ways.through();
    const waited = (usageOf(running.gatewayPid).waitedUs - waitedUs) / (performance.now() * 1000 - startedUs);
    return { result: { through, direct: await ways.direct() }, waited };
  });
  return { perSecond, ...result, calmness };
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
