// How periods are counted: by a length from the team's creation, or by the UTC calendar.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  anchorOf,
  isOfCalendar,
  isPeriodRule,
  lengthOf,
  periodBy,
  periodRule,
  sameLength,
  parseDuration,
  periodAt,
  rfc3339,
} from '../../../src/domain/period.ts';

const CREATED = Date.parse('2024-02-29T13:00:00Z');
const shown = (rule: string, now: string): string => {
  const { startMs, endMs } = periodBy(rule, CREATED, Date.parse(now));
  return `${rfc3339(startMs)} ${rfc3339(endMs)}`;
};

test('a rule is written as its length, followed by its anchor if that is the calendar', () => {
  expect([periodRule('P1M'), periodRule('P1M', 'creation'), periodRule('P1M', 'calendar')]).toEqual(['P1M', 'P1M', 'P1M@calendar']);
  for (const rule of ['P1M', 'P1M@calendar']) expect(periodRule(lengthOf(rule), anchorOf(rule))).toBe(rule);
  expect(sameLength('P1W@calendar', 'P7D')).toBe(true);
  expect(sameLength('P1M@calendar', 'P1D@calendar')).toBe(false);
});

test.each([
  ['P1M', true],
  ['P7D', true],
  ['P1W', true],
  ['P1D', true],
  ['PT24H', true],
  ['P1Y', true],
  ['P12M', true],
  ['P2M', false],
  ['P3M', false],
  ['P2W', false],
  ['P30D', false],
  ['PT1H', false],
  ['month', false],
])('the calendar has periods of %s: %s', (length, has) => {
  expect([isOfCalendar(length), isPeriodRule(`${length}@calendar`)]).toEqual([has, has]);
});

describe('the UTC calendar', () => {
  test.each([
    ['P1M@calendar', '2026-11-22T12:00:00Z', '2026-11-01T00:00:00Z 2026-12-01T00:00:00Z'],
    ['P1M@calendar', '2026-12-31T23:59:59.999Z', '2026-12-01T00:00:00Z 2027-01-01T00:00:00Z'],
    ['P1M@calendar', '2027-01-01T00:00:00Z', '2027-01-01T00:00:00Z 2027-02-01T00:00:00Z'],
    ['P1M@calendar', '2028-02-29T00:00:00Z', '2028-02-01T00:00:00Z 2028-03-01T00:00:00Z'],
    ['P7D@calendar', '2026-11-22T23:59:59.999Z', '2026-11-16T00:00:00Z 2026-11-23T00:00:00Z'],
    ['P1W@calendar', '2026-11-23T00:00:00Z', '2026-11-23T00:00:00Z 2026-11-30T00:00:00Z'],
    ['P7D@calendar', '2027-01-01T00:00:00Z', '2026-12-28T00:00:00Z 2027-01-04T00:00:00Z'],
    ['P1D@calendar', '2026-11-22T00:00:00Z', '2026-11-22T00:00:00Z 2026-11-23T00:00:00Z'],
    ['P1Y@calendar', '2026-11-22T12:00:00Z', '2026-01-01T00:00:00Z 2027-01-01T00:00:00Z'],
    ['P12M@calendar', '2028-12-31T23:59:59Z', '2028-01-01T00:00:00Z 2029-01-01T00:00:00Z'],
  ])('%s at %s', (rule, now, bounds) => {
    expect(shown(rule, now)).toBe(bounds);
  });

  test('gives the same periods as the length counted from a Monday, the first of January, without gaps', () => {
    const monday = Date.UTC(1900, 0, 1);
    const moment = fc.integer({ min: Date.UTC(1970, 0, 1), max: Date.UTC(2200, 0, 1) });
    fc.assert(
      fc.property(fc.constantFrom('P1M', 'P7D', 'P1D', 'P1Y'), moment, (length, nowMs) => {
        const period = periodBy(`${length}@calendar`, CREATED, nowMs);
        expect(period).toEqual(periodAt(monday, parseDuration(length)!, nowMs));
        expect(periodBy(`${length}@calendar`, CREATED, period.endMs).startMs).toBe(period.endMs);
      }),
    );
  });
});

test('without the calendar, periods are counted from the given time; an invalid rule is refused', () => {
  expect(shown('P1M', '2026-11-29T12:59:59Z')).toBe('2026-10-29T13:00:00Z 2026-11-29T13:00:00Z');
  for (const rule of ['', 'monthly', 'P3M@calendar', '@calendar', 'P1M@creation']) {
    expect(isPeriodRule(rule)).toBe(false);
    expect(() => shown(rule, '2026-11-22T12:00:00Z')).toThrow(RangeError);
  }
});
