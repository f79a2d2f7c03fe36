// Which of the latest requests are asked for: moments and days of UTC, and times of day.
import { expect, test } from 'vitest';
import { checked, fieldsOf, valueOf } from '../../../src/admin/input.ts';
import { listRequests } from '../../../src/admin/operations/requests.ts';

const NOW_MS = Date.UTC(2026, 10, 22, 14, 3, 7);

const since = (text: string): string => {
  const input = checked(listRequests, { since: valueOf(fieldsOf(listRequests).get('since')!, [text], NOW_MS) }, NOW_MS);
  return new Date((input as { readonly since: string }).since).toISOString();
};

test.each([
  ['2026-11-22', '2026-11-22T00:00:00.000Z'],
  ['2026-11-22T13:00Z', '2026-11-22T13:00:00.000Z'],
  ['2026-11-22T13:00:01.5+01:00', '2026-11-22T12:00:01.500Z'],
  // The latest such time that is not in the future.
  ['14:03', '2026-11-22T14:03:00.000Z'],
  ['14:04', '2026-11-21T14:04:00.000Z'],
  ['00:00', '2026-11-22T00:00:00.000Z'],
])('since %j is %s', (text, moment) => {
  expect(since(text)).toBe(moment);
});

test.each(['24:00', '9:00', '14:00Z', 'yesterday', '2026-13-01', '2026-11-22T14'])('since %s is refused', (text) => {
  expect(() => since(text)).toThrow(/^".*" is not a UTC day, a moment of RFC 3339 or a time of the last 24 hours, for example /);
});
