// The alarm about the operator's own quota: loud enough to wake someone, and no louder.
import { expect, test } from 'vitest';
import { QuotaAlarm } from '../../../src/runtime/quota-alarm.ts';

test('a quota that is used up is one line at level error, and one more each minute that it lasts', () => {
  const lines: string[] = [];
  let nowMs = 5;
  const log = { info: () => undefined, warn: () => undefined, error: (message: string) => void lines.push(message) };
  const alarm = new QuotaAlarm(log, () => nowMs);
  for (let i = 0; i < 100; i++) alarm.ring();
  expect(lines).toEqual([expect.stringContaining('own quota at the engine is used up')]);
  nowMs += 59_999;
  alarm.ring();
  expect(lines).toHaveLength(1);
  nowMs += 1;
  alarm.ring();
  expect(lines).toHaveLength(2);
});
