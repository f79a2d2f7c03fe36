// The settlement queue on its own: what it repeats, when it gives up, and whom it notifies once nothing is open.
import { expect, onTestFinished, test, vi } from 'vitest';
import type { Resolution, SettlementResult } from '../../../src/ports/ledger.ts';
import { SettlementQueue } from '../../../src/runtime/settlement-queue.ts';
import type { SettlementQueueOptions } from '../../../src/runtime/settlement-queue.ts';

const LEASE_MS = 60_000;
const reservation = { requestId: 'r1', teamId: 'T1', characters: 10, leaseUntilMs: 0 };

function opened(answers: Resolution[]) {
  const asked: string[] = [];
  const results: SettlementResult[] = [];
  const lines: string[] = [];
  const ledger: SettlementQueueOptions['ledger'] = {
    resolve: (open) => {
      asked.push(`${open.verdict} ${open.requestId}${open.characters === undefined ? '' : ` of ${open.characters}`}`);
      const answer = answers.shift() ?? { kind: 'unavailable', cause: 'closed' };
      queueMicrotask(() => open.answered(answer));
    },
  };
  const keep = (message: string) => void lines.push(message);
  const queue = new SettlementQueue({
    ledger,
    now: () => performance.now(),
    nowMs: () => performance.now(),
    log: { info: keep, warn: keep, error: keep },
    leaseMs: LEASE_MS,
    onSettled: (_verdict, result) => results.push(result),
  });
  return { queue, asked, results, lines };
}

test('a settlement is repeated with its id until the store acknowledges it, and every waiting caller is notified once', async () => {
  const { queue, asked, results, lines } = opened([
    { kind: 'unavailable', cause: 'closed' },
    { kind: 'unavailable', cause: 'timeout' },
    { kind: 'committed' },
  ]);
  queue.commit(reservation);
  expect(queue.open).toBe(1);
  await Promise.all([queue.drained(), queue.drained(), queue.drained()]);
  expect([asked, results, queue.open, lines]).toEqual([['commit r1', 'commit r1', 'commit r1'], ['committed'], 0, []]);
  await queue.drained();
});

test('a commit charges the same at each repetition', async () => {
  const { queue, asked } = opened([
    { kind: 'unavailable', cause: 'closed' },
    { kind: 'unavailable', cause: 'timeout' },
    { kind: 'committed' },
  ]);
  queue.commit(reservation, 0);
  await queue.drained();
  expect(asked).toEqual(['commit r1 of 0', 'commit r1 of 0', 'commit r1 of 0']);
});

test('a repeated commit whose id is no longer known is not a loss; one at its first try is logged', async () => {
  const repeated = opened([{ kind: 'unavailable', cause: 'closed' }, { kind: 'absent' }]);
  repeated.queue.commit(reservation);
  await repeated.queue.drained();
  expect([repeated.results, repeated.lines]).toEqual([['absent'], []]);
  const first = opened([{ kind: 'absent' }]);
  first.queue.commit(reservation);
  await first.queue.drained();
  expect([first.results, first.lines]).toEqual([['absent'], ['a delivered translation was not charged']]);
});

test('a closed queue stops trying and leaves open reservations to their leases', async () => {
  const { queue, asked, results } = opened([]);
  queue.release(reservation);
  await expect.poll(() => asked).toHaveLength(1);
  queue.close();
  queue.release({ ...reservation, requestId: 'r2' });
  await expect.poll(() => results).toContain('abandoned');
  expect(asked).toEqual(['release r1', 'release r2']);
});

test('a lease that is longer than a request may take is used to its end', async () => {
  const away: Resolution = { kind: 'unavailable', cause: 'timeout' };
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const { queue, asked, results } = opened(Array.from({ length: 10_000 }, () => away));
  const settled: SettlementResult[] = [];
  queue.commit({ ...reservation, leaseUntilMs: performance.now() + 10 * LEASE_MS }, 5, undefined, (result) => settled.push(result));
  await vi.advanceTimersByTimeAsync(9 * LEASE_MS);
  expect([results, settled]).toEqual([[], []]);
  const before = asked.length;
  await vi.advanceTimersByTimeAsync(2 * LEASE_MS);
  expect(asked.length).toBeGreaterThan(before);
  expect([results, settled]).toEqual([['abandoned'], ['abandoned']]);
});
