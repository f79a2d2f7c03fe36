// Periods follow the UTC calendar, counted from an anchor.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { addDurations, parseDuration, periodAt, rfc3339, sameDuration } from '../../../src/domain/period.ts';

const at = (text: string) => Date.parse(text);

describe('durations', () => {
  test.each([
    ['P1M', { months: 1, days: 0, seconds: 0 }],
    ['P1Y2M', { months: 14, days: 0, seconds: 0 }],
    ['P2W', { months: 0, days: 14, seconds: 0 }],
    ['P1DT12H', { months: 0, days: 1, seconds: 43_200 }],
    ['PT90S', { months: 0, days: 0, seconds: 90 }],
    ['PT1H2M3S', { months: 0, days: 0, seconds: 3723 }],
  ])('%s is parsed', (text, expected) => {
    expect(parseDuration(text)).toEqual(expected);
  });

  test.each(['', 'P', 'PT', 'P1', '1M', 'P-1M', 'P1.5M', 'PT0S', 'P0M', 'p1m', 'P1S', 'PT1D', 'P1M ', 'P1D1M'])(
    '"%s" is not a duration',
    (text) => {
      expect(parseDuration(text)).toBeUndefined();
    },
  );
});

test.each([
  ['P7D', 'P1W', true],
  ['P1Y', 'P12M', true],
  ['P1D', 'PT24H', true],
  ['P1DT3600S', 'PT25H', true],
  ['P1M', 'P30D', false],
  ['P1M', 'PT1M', false],
  ['x', 'x', true],
  ['x', 'y', false],
])('%s and %s are the same length: %s', (one, other, same) => {
  expect([sameDuration(one, other), sameDuration(other, one)]).toEqual([same, same]);
});

describe('periods', () => {
  test('a month from the 31st ends on the last day of a shorter month, and on the 31st again after that', () => {
    const anchor = at('2026-01-31T10:00:00Z');
    const month = { months: 1, days: 0, seconds: 0 };
    const starts = [0, 1, 2, 3, 4].map((n) => rfc3339(addDurations(anchor, month, n)));
    expect(starts).toEqual([
      '2026-01-31T10:00:00Z',
      '2026-02-28T10:00:00Z',
      '2026-03-31T10:00:00Z',
      '2026-04-30T10:00:00Z',
      '2026-05-31T10:00:00Z',
    ]);
  });

  test('a leap year has the 29th of February', () => {
    const anchor = at('2027-12-31T00:00:00Z');
    expect(rfc3339(addDurations(anchor, { months: 1, days: 0, seconds: 0 }, 2))).toBe('2028-02-29T00:00:00Z');
  });

  test('a boundary belongs to the period that begins', () => {
    const anchor = at('2026-11-01T00:00:00Z');
    const month = { months: 1, days: 0, seconds: 0 };
    expect(periodAt(anchor, month, at('2026-11-30T23:59:59.999Z')).startMs).toBe(anchor);
    expect(periodAt(anchor, month, at('2026-12-01T00:00:00Z')).startMs).toBe(at('2026-12-01T00:00:00Z'));
  });

  test('a time before the anchor is in the first period', () => {
    const anchor = at('2026-11-01T00:00:00Z');
    expect(periodAt(anchor, { months: 0, days: 1, seconds: 0 }, anchor - 5).startMs).toBe(anchor);
  });

  test('every time is in exactly one period, and there are no gaps between periods', () => {
    const durations = fc.record({
      months: fc.integer({ min: 0, max: 30 }),
      days: fc.integer({ min: 0, max: 40 }),
      seconds: fc.integer({ min: 0, max: 90_000 }),
    });
    const moments = fc.integer({ min: at('1990-01-01T00:00:00Z'), max: at('2100-01-01T00:00:00Z') });
    fc.assert(
      fc.property(durations, moments, fc.integer({ min: 0, max: 20 * 366 * 86_400_000 }), (duration, anchor, later) => {
        fc.pre(duration.months + duration.days + duration.seconds > 0);
        const now = anchor + later;
        const period = periodAt(anchor, duration, now);
        expect(period.startMs).toBeLessThanOrEqual(now);
        expect(period.endMs).toBeGreaterThan(now);
        expect(periodAt(anchor, duration, period.endMs).startMs).toBe(period.endMs);
        expect(periodAt(anchor, duration, period.startMs)).toEqual(period);
      }),
      { numRuns: 300 },
    );
  });
});
