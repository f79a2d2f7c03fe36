// How the console shows the figures of plans.
import { expect, test } from 'vitest';
import { compact, numberText, periodText } from '../../../src/console/shown.ts';

test('a figure of a tile has room for its unit', () => {
  expect([12.44, 9999, 82_312, 194_021, 3_671_452].map(compact)).toEqual(['12.4', '9,999', '82.3K', '194K', '3.67M']);
});

test.each([
  ['P1M', 'a month'],
  ['P1M@calendar', 'a calendar month'],
  ['P7D@calendar', 'a calendar week'],
  ['P1W', 'a week'],
  ['PT30S', 'per PT30S'],
  ['PT24H@calendar', 'per calendar PT24H'],
])('the period %s is shown as %s', (rule, text) => {
  expect(periodText(rule)).toBe(text);
});

test('a number is shown in its unit, and a period with whether it follows the calendar', () => {
  expect(numberText('requestsPerSecond', 5000, 'EUR')).toBe('5,000');
  expect(numberText('overageCapMinor', 5000, 'EUR')).toContain('50.00');
  expect([numberText('period', 'P1M', 'EUR'), numberText('period', 'P1M@calendar', 'EUR')]).toEqual(['P1M', 'P1M by the calendar']);
});
