// Limits by minute to month as operators give them: what is taken, what is refused with which words, and changes of some of them.
import { describe, expect, test } from 'vitest';
import { changedWindows, judgeWindows, readWindowLimit, windowTexts } from '../../../src/domain/window-limits.ts';

describe('a list', () => {
  test.each([
    [[{ per: 'minute', requests: 600 }], 'requests=600/minute'],
    [
      [
        { per: 'day', characters: 5 },
        { per: 'day', requests: 1 },
      ],
      'requests=1/day characters=5/day',
    ],
  ])('%j is kept as "%s"', (given, value) => expect(judgeWindows(given)).toEqual({ value }));

  test.each([
    ['none', 'is not a list; write entries such as {"per": "minute", "requests": 600}', undefined],
    [[], 'is empty; give at least one entry', undefined],
    [Array.from({ length: 7 }, () => ({ per: 'day', requests: 1 })), 'has more than 6 entries', undefined],
    [['day'], 'is not an entry such as {"per": "minute", "requests": 600}', 0],
    [[{ per: 'second', requests: 1 }], 'has no per that is one of minute, hour, day, week, month', 0],
    [[{ per: 'day' }], 'has neither requests nor characters', 0],
    [[{ per: 'day', requests: 1, bytes: 2 }], 'has an unknown member; accepted are per, requests and characters', 0],
    [[{ per: 'day', requests: 0 }], 'has requests that are not a whole number from 1 to 1000000000000', 0],
    [[{ per: 'day', requests: 1, characters: 1.5 }], 'has characters that are not a whole number from 1 to 1000000000000', 0],
    [
      [
        { per: 'day', requests: 1 },
        { per: 'day', requests: 2 },
      ],
      'limits the requests of a day a second time',
      1,
    ],
  ])('%j: %s', (given, fault, at) => {
    expect(judgeWindows(given)).toEqual({ fault, ...(at === undefined ? {} : { at }) });
  });
});

test.each([
  ['requests=600/minute', { per: 'minute', requests: 600 }],
  ['characters=1000000/day', { per: 'day', characters: 1_000_000 }],
])('%s is a limit', (text, limit) => expect(readWindowLimit(text)).toEqual(limit));

test.each(['600/minute', 'requests=0/day', 'requests=1/year', 'words=1/day', 'requests=1e3/day', ''])(
  '"%s" is none, and is told one',
  (text) => {
    expect(readWindowLimit(text)).toEqual({
      fault: 'is not a limit such as requests=600/minute or characters=1000000/day (minute, hour, day, week, month; 1 to 1000000000000)',
    });
  },
);

test('a change replaces numbers, removes times, and leaves the others', () => {
  const standing = 'requests=1/minute characters=2/day requests=3/month';
  const set = [
    { per: 'day', requests: 9 },
    { per: 'minute', requests: 5 },
  ] as const;
  expect(changedWindows(standing, { set, removed: ['month'] })).toBe('requests=5/minute requests=9/day characters=2/day');
  expect(changedWindows(standing, { set: [], removed: ['minute', 'day', 'month'] })).toBeNull();
});

test('for people', () => expect(windowTexts('requests=5/minute characters=2/day')).toEqual(['5 requests/minute', '2 characters/day']));
