// How often an operation is sent: not again after a failure, and only a few times if it did nothing.
import { expect, test } from 'vitest';
import { nextRound } from '../../../../src/stores/redis/rounds.ts';
import type { Rounds } from '../../../../src/stores/redis/rounds.ts';

const PATIENT: Rounds = { untilMs: performance.now() + 60_000, count: 0, late: false };

/** The rounds after one that had no effect. */
function after(rounds: Rounds, because: 'late' | 'period'): Rounds {
  const next = nextRound(rounds, because);
  if ('kind' in next) throw new Error(`ended: ${next.cause}`);
  return next;
}

test('an operation that was late is sent once more, with the time from its reply; late twice is unavailable', () => {
  const second = after(PATIENT, 'late');
  expect(second).toEqual({ ...PATIENT, count: 1, late: true });
  expect(nextRound(second, 'late')).toEqual({ kind: 'unavailable', cause: 'late' });
});

test('questions about periods are answered a limited number of times, even with one late answer in between', () => {
  const sixth = (['period', 'late', 'period', 'period', 'period'] as const).reduce(after, PATIENT);
  expect(sixth).toEqual({ ...PATIENT, count: 5, late: true });
  expect(nextRound(sixth, 'period')).toEqual({ kind: 'unavailable', cause: 'unsettled' });
});

test('nothing is sent for a caller that has stopped waiting', () => {
  expect(nextRound({ ...PATIENT, untilMs: performance.now() }, 'period')).toEqual({ kind: 'unavailable', cause: 'late' });
});
