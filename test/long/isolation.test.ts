// Two teams, one of which uses every allowed operation at its worst: no request of the other fails, and its answers take little longer.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startNeighbours } from './isolation/neighbours.ts';
import { FLOOD } from './isolation/operations.ts';
import type { Neighbours, Quiet } from './isolation/neighbours.ts';

/** What the default plan allows, and what a team with one large dictionary was once seen to take from another. */
const NOISY_PER_SECOND = 5;
const SECONDS = 0.6;
/** Other tests share the machine. */
const P50_MS_MAX = 250;

describe.each(['sqlite', 'redis'] as const)('on %s', (kind) => {
  let neighbours: Neighbours;
  let alone: Quiet;

  beforeAll(async () => {
    neighbours = await startNeighbours(kind, NOISY_PER_SECOND);
    alone = await neighbours.measure(undefined, SECONDS);
  });

  afterAll(() => neighbours.stop());

  test('whatever the one team does, no request of the other fails or hangs', async () => {
    const wrong: string[] = [];
    for (const operation of neighbours.operations) {
      const { p50Ms, answers } = await neighbours.measure(operation, SECONDS);
      const served = answers['200 ok'] ?? 0;
      const all = Object.values(answers).reduce((sum, count) => sum + count, 0);
      if (served < all || p50Ms > Math.max(P50_MS_MAX, 20 * alone.p50Ms))
        wrong.push(`${operation.name}: ${JSON.stringify({ answers, p50Ms })}`);
    }
    expect(wrong).toEqual([]);
  }, 120_000);

  test('a flood is refused where it comes in: few of its requests reach the store, and no request of the other team fails', async () => {
    const flood = neighbours.operations.find(({ name }) => name === FLOOD);
    const before = await neighbours.storeUses();
    const { answers, noisy } = await neighbours.measure(flood, 3 * SECONDS);
    const uses = (await neighbours.storeUses()) - before;
    expect(Object.keys(answers)).toEqual(['200 ok']);
    expect(noisy['429']).toBeGreaterThan(0);
    // The other team's, those that had a place, and on a busy machine all that came in the turn in which a place was free.
    expect(uses).toBeLessThan(answers['200 ok']! + noisy['429']! / 2);
  });
});
