// The alarm about the operator's own quota: at level error, but not for every request.
import { expect, test } from 'vitest';
import { QuotaAlarm } from '../../../src/runtime/quota-alarm.ts';

test('a used-up quota gives one line at level error, and another each minute while it lasts', () => {
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
