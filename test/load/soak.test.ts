// Row 23, in seconds: thousands of requests of all kinds leave no heap, descriptor, timer or Redis key behind. `soak.ts` is the long one.
import { describe, expect, test } from 'vitest';
import { heapPerRequest, soak } from '../evidence/load/soak-run.ts';

const ROUND = 3000;
/** Code that becomes hot grows the heap by more than half of this; a leak would be at least the answer's text. */
const BYTES_PER_REQUEST_MAX = 400;

describe.each(['sqlite', 'redis'] as const)('a soak on %s', (store) => {
  test('leaves nothing behind', { timeout: 180_000 }, async () => {
    const looks = await soak({ store, warmUpRounds: 1, roundRequests: ROUND, goesOn: ({ length }) => length === 1 });
    const [first, last] = [looks[0]!, looks.at(-1)!];
    const bytesPerRequest = heapPerRequest(looks);
    expect(bytesPerRequest).toBeLessThan(BYTES_PER_REQUEST_MAX);
    expect(Math.abs(last.descriptors - first.descriptors)).toBeLessThanOrEqual(5);
    expect(last.timers - first.timers).toBeLessThanOrEqual(2);
    expect(last.keys).toBeLessThanOrEqual(first.keys);
  });
});
