// Refusals are counted in memory and told to the store in batches: never more than there were, and at once where it matters.
import { expect, test } from 'vitest';
import { NO_REFUSALS } from '../../../src/domain/usage-days.ts';
import type { RefusalCounts } from '../../../src/ports/refusal-days.ts';
import { PendingRefusals } from '../../../src/runtime/pending-refusals.ts';

/** Days in memory, which answer only as long as `away` is false. */
function memoryDays() {
  const days = {
    away: false,
    calls: [] as [teamId: string, counts: RefusalCounts][],
    add: async (teamId: string, counts: RefusalCounts) => {
      days.calls.push([teamId, counts]);
      return days.away ? ({ kind: 'unavailable', cause: 'timeout' } as const) : undefined;
    },
    sum: async (teamId: string) => {
      const rated = days.calls.filter(([one]) => one === teamId).map(([, counts]) => counts.rate_limited);
      return { ...NO_REFUSALS, rate_limited: rated.reduce((sum, one) => sum + one, 0) };
    },
  };
  return days;
}

const RANGE = { from: 0, to: 1 };
const pendingOn = (days: ReturnType<typeof memoryDays>, more: { everyMs?: number; teamsMax?: number } = {}) =>
  new PendingRefusals({ days, nowMs: () => 0, everyMs: 3_600_000, ...more });

test('a flood is one call for each team, with each code', async () => {
  const days = memoryDays();
  const pending = pendingOn(days);
  for (let i = 0; i < 1000; i++) pending.count('a', i % 10 === 0 ? 'quota_exceeded' : 'rate_limited');
  pending.count('b', 'credit_exhausted');
  expect(days.calls).toEqual([]);
  await pending.flush();
  expect(days.calls).toEqual([
    ['a', { rate_limited: 900, quota_exceeded: 100, credit_exhausted: 0 }],
    ['b', { rate_limited: 0, quota_exceeded: 0, credit_exhausted: 1 }],
  ]);
  await pending.flush();
  expect(days.calls).toHaveLength(2);
});

test('after a while the store is told without being asked, and at once when there are many teams', async () => {
  const days = memoryDays();
  pendingOn(days, { everyMs: 1 }).count('a', 'rate_limited');
  await expect.poll(() => days.calls).toHaveLength(1);
  const pending = pendingOn(days, { teamsMax: 3 });
  for (const team of ['b', 'c', 'd']) pending.count(team, 'rate_limited');
  await expect.poll(() => days.calls).toHaveLength(4);
});

test('who asks for the sums gets what was counted until then', async () => {
  const days = memoryDays();
  const pending = pendingOn(days);
  pending.count('a', 'rate_limited');
  expect(await pending.sum('a', RANGE)).toEqual({ ...NO_REFUSALS, rate_limited: 1 });
});

test('what a store did not take is not told again, because it may have been counted', async () => {
  const days = memoryDays();
  const pending = pendingOn(days);
  days.away = true;
  for (let i = 0; i < 100; i++) pending.count(`team ${i}`, 'rate_limited');
  await pending.flush();
  const tried = days.calls.length;
  // It does not wait for a store that is away once for each of many teams.
  expect(tried).toBeLessThan(100);
  days.away = false;
  pending.count('a', 'rate_limited');
  await pending.flush();
  expect(days.calls.slice(tried)).toEqual([['a', { ...NO_REFUSALS, rate_limited: 1 }]]);
});
