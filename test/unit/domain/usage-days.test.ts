// Usage by day: which ranges are accepted, the message for the others, and how counts of keys become those of days.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { dateIn, dateOf, dayOfDate, dayReports, daysOfMonth, RANGE_DAYS_MAX, readDayRange } from '../../../src/domain/usage-days.ts';

describe('a range of days', () => {
  test.each<[string, string, number]>([
    ['2026-11-01', '2026-11-30', 30],
    ['2026-11-22', '2026-11-22', 1],
    ['2024-02-29', '2024-02-29', 1],
    ['2000-02-29', '2000-03-01', 2],
    ['2025-12-31', '2026-01-01', 2],
    ['2025-10-19', '2026-11-22', RANGE_DAYS_MAX],
    ['9999-12-31', '9999-12-31', 1],
  ])('%s to %s has %i days, both included', (from, to, days) => {
    const range = readDayRange(from, to);
    if (range === undefined || 'fault' in range) return expect.unreachable();
    expect([dateOf(range.from), dateOf(range.to), range.to - range.from + 1]).toEqual([from, to, days]);
  });

  test('may be left out', () => {
    expect(readDayRange(undefined, undefined)).toBeUndefined();
  });

  test('before 1970 is empty, and asks a store for no day before its first', () => {
    expect(readDayRange('1969-12-30', '1970-01-02')).toEqual({ from: 0, to: 1 });
  });

  test.each<[string, string | undefined, string | undefined, 'from' | 'to', RegExp]>([
    ['only a start', '2026-11-01', undefined, 'to', /^is missing; give the last day/],
    ['only an end', undefined, '2026-11-01', 'from', /^is missing; give the first day/],
    ['the 30th of February', '2026-02-30', '2026-03-01', 'from', /YYYY-MM-DD/],
    ['the 29th of February of a common year', '2026-02-01', '2026-02-29', 'to', /YYYY-MM-DD/],
    ['the 29th of February of 1900', '1900-02-29', '1900-03-01', 'from', /YYYY-MM-DD/],
    ['a month 13', '2026-13-01', '2026-12-31', 'from', /YYYY-MM-DD/],
    ['a month 0', '2026-00-10', '2026-12-31', 'from', /YYYY-MM-DD/],
    ['a day 0', '2026-11-00', '2026-11-30', 'from', /YYYY-MM-DD/],
    ['the 31st of November', '2026-11-01', '2026-11-31', 'to', /YYYY-MM-DD/],
    ['short numbers', '26-1-1', '2026-11-01', 'from', /YYYY-MM-DD/],
    ['a year without its zeros', '26-01-01', '2026-11-01', 'from', /YYYY-MM-DD/],
    ['the year 26', '0026-01-01', '2026-11-01', 'from', /YYYY-MM-DD/],
    ['an empty text', '', '2026-11-01', 'from', /YYYY-MM-DD/],
    ['a time', '2026-11-01T00:00:00Z', '2026-11-02', 'from', /YYYY-MM-DD/],
    ['white space', ' 2026-11-01', '2026-11-02', 'from', /YYYY-MM-DD/],
    ['a trailing line break', '2026-11-01\n', '2026-11-02', 'from', /YYYY-MM-DD/],
    ['slashes', '2026/11/01', '2026-11-02', 'from', /YYYY-MM-DD/],
    ['other digits', '２０２６-11-01', '2026-11-02', 'from', /YYYY-MM-DD/],
    ['a sign', '-2026-11-01', '2026-11-02', 'from', /YYYY-MM-DD/],
    ['a year of five digits', '12026-11-01', '2026-11-02', 'from', /YYYY-MM-DD/],
    ['an end before the start', '2026-11-02', '2026-11-01', 'to', /^must not be before the first day$/],
    ['401 days', '2025-10-18', '2026-11-22', 'to', /^ends a range of 401 days; the maximum is 400/],
  ])('%s is refused by the name of the field', (_what, from, to, field, fault) => {
    expect(readDayRange(from, to)).toEqual({ field, fault: expect.stringMatching(fault) as string });
  });

  test('every day can be read back from its date, and no two days have the same date', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: dayOfDate('9999-12-31')! }), (day) => {
        expect(dayOfDate(dateOf(day))).toBe(day);
      }),
    );
  });
});

describe('a month', () => {
  test.each([
    ['2026-02', '2026-02-01', '2026-02-28'],
    ['2024-02', '2024-02-01', '2024-02-29'],
    ['2026-12', '2026-12-01', '2026-12-31'],
  ])('%s is from %s to %s', (month, first, last) => {
    const { from, to } = daysOfMonth(month)!;
    expect([dateOf(from), dateOf(to)]).toEqual([first, last]);
  });

  test.each(['2026-13', '2026-00', '2026', '2026-1', '26-01', '2026-02-01', '', '2026-02\n', '0026-01'])('%j is not valid', (month) => {
    expect(daysOfMonth(month)).toBeUndefined();
  });
});

test('a count is for a day, a month, or all days', () => {
  const day = dayOfDate('2026-11-22')!;
  expect([dateIn('day', day), dateIn('month', day), dateIn('total', day)]).toEqual(['2026-11-22', '2026-11', null]);
});

test("a day's count is the sum of all keys, and days without usage are left out", () => {
  const [first, third] = [dayOfDate('2026-11-20')!, dayOfDate('2026-11-22')!];
  expect(
    dayReports([
      { day: first, characters: 5, requests: 1 },
      { day: first, characters: 7, requests: 2 },
      { day: third, characters: 11, requests: 3 },
    ]),
  ).toEqual([
    { date: '2026-11-20', character_count: 12, request_count: 3 },
    { date: '2026-11-22', character_count: 11, request_count: 3 },
  ]);
  expect(dayReports([])).toEqual([]);
});
