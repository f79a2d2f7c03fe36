// Limits by minute to month: their text form, and the bounds of windows at month ends, leap days and the beginning of weeks.
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { COUNTED, windowAt, windowLimits, WINDOWS, writtenWindows } from '../../../src/domain/window-limits.ts';
import type { WindowLimit } from '../../../src/domain/window-limits.ts';

describe('the text of a list', () => {
  test.each([
    [[], ''],
    [[{ per: 'minute', requests: 600 }], 'requests=600/minute'],
    [[{ per: 'day', characters: 7, requests: 3 }], 'requests=3/day characters=7/day'],
    [
      [
        { per: 'month', characters: 9 },
        { per: 'minute', characters: 5 },
        { per: 'minute', requests: 2 },
      ],
      'requests=2/minute characters=5/minute characters=9/month',
    ],
  ] as const)('%j is "%s"', (limits, text) => expect(writtenWindows(limits)).toBe(text));

  const limit = fc.record(
    { per: fc.constantFrom(...WINDOWS), requests: fc.integer({ min: 1 }), characters: fc.integer({ min: 1, max: 2 ** 52 }) },
    { requiredKeys: ['per', 'requests'] },
  );

  test('is read as it was written', () => {
    fc.assert(
      fc.property(fc.uniqueArray(limit, { selector: ({ per }) => per }), (limits) => {
        const sorted = limits.toSorted((one, other) => WINDOWS.indexOf(one.per) - WINDOWS.indexOf(other.per));
        expect(windowLimits(writtenWindows(limits))).toEqual(sorted satisfies WindowLimit[]);
      }),
    );
  });

  test.each(['requests=1/second', 'requests=/day', 'bytes=1/day', 'requests=1/day ', 'requests=-1/day'])('"%s" is none', (text) => {
    expect(() => windowLimits(text)).toThrow(RangeError);
  });
});

describe('windows', () => {
  test.each([
    ['minute', '2026-03-31T23:59:59.999Z', '2026-03-31T23:59:00Z', '2026-04-01T00:00:00Z'],
    ['hour', '2026-03-31T23:59:59.999Z', '2026-03-31T23:00:00Z', '2026-04-01T00:00:00Z'],
    ['day', '2028-02-29T12:00:00Z', '2028-02-29T00:00:00Z', '2028-03-01T00:00:00Z'],
    ['week', '2026-11-29T23:59:59.999Z', '2026-11-23T00:00:00Z', '2026-11-30T00:00:00Z'],
    ['week', '2026-11-30T00:00:00Z', '2026-11-30T00:00:00Z', '2026-12-07T00:00:00Z'],
    ['week', '1970-01-01T00:00:00Z', '1969-12-29T00:00:00Z', '1970-01-05T00:00:00Z'],
    ['month', '2028-02-29T23:59:59.999Z', '2028-02-01T00:00:00Z', '2028-03-01T00:00:00Z'],
    ['month', '2026-12-31T23:59:59.999Z', '2026-12-01T00:00:00Z', '2027-01-01T00:00:00Z'],
  ] as const)('the %s of %s', (per, at, from, to) => {
    expect(windowAt(per, Date.parse(at))).toEqual({ startMs: Date.parse(from), endMs: Date.parse(to) });
  });

  test('each moment is in one of each kind, and each begins where the one before ended', () => {
    fc.assert(
      fc.property(fc.constantFrom(...WINDOWS), fc.integer({ min: 0, max: 4e12 }), (per, nowMs) => {
        const { startMs, endMs } = windowAt(per, nowMs);
        expect(startMs <= nowMs && nowMs < endMs).toBe(true);
        expect([windowAt(per, startMs), windowAt(per, endMs - 1)]).toEqual([
          { startMs, endMs },
          { startMs, endMs },
        ]);
        expect(windowAt(per, endMs).startMs).toBe(endMs);
      }),
    );
  });

  test('requests come before characters', () => expect(COUNTED).toEqual(['requests', 'characters']));
});
