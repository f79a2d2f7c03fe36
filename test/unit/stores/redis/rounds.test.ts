// How often an operation is sent: never again after a failure, not for ever when it did nothing.
import { expect, test } from 'vitest';
import { Rounds } from '../../../../src/stores/redis/rounds.ts';

const patient = () => new Rounds(performance.now() + 60_000);

test('what is late once is sent again with the time that its reply has brought; late twice is too late', () => {
  const rounds = patient();
  expect(rounds.first).toBe(true);
  expect(rounds.another('late')).toBeUndefined();
  expect(rounds.first).toBe(false);
  expect(rounds.another('late')).toEqual({ kind: 'unavailable', cause: 'late' });
});

test('questions about periods are answered a few times, in between once late', () => {
  const rounds = patient();
  const answers = (['period', 'late', 'period', 'period', 'period', 'period'] as const).map((because) => rounds.another(because));
  expect(answers).toEqual([undefined, undefined, undefined, undefined, undefined, { kind: 'unavailable', cause: 'unsettled' }]);
});

test('nothing is sent for somebody who has stopped waiting', () => {
  expect(new Rounds(performance.now()).another('period')).toEqual({ kind: 'unavailable', cause: 'late' });
});
