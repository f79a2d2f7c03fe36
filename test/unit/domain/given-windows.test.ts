// Limits by minute to month as operators give them: what is taken, what is refused with which words, and changes of some of them.
import { expect, test } from 'vitest';
import { faultsOf } from '../../../src/config/faults.ts';
import { changedWindows, readWindowLimit, windowListSchema, windowTexts } from '../../../src/domain/window-limits.ts';

test.each([
  [
    [
      { per: 'day', characters: 5 },
      { per: 'day', requests: 1 },
      { per: 'week', requests: 1 },
    ],
    [],
  ],
  [
    [
      { per: 'day', requests: 1, characters: 5 },
      { per: 'day', requests: 2 },
    ],
    ['limits the requests of a day a second time'],
  ],
  [[{ per: 'day' }], ['has neither requests nor characters']],
] as const)('%j: %j', (given, faults) => expect(faultsOf(windowListSchema(), given).map(({ reason }) => reason)).toEqual(faults));

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
