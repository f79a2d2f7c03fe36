// Rows of usage: by day, by month and in total, for teams and for keys; they always add up to the same.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { usageRows } from '../../../src/admin/usage-rows.ts';
import type { UsageQuestion, UsageRow } from '../../../src/admin/usage-rows.ts';
import { dateOf, dayOfDate, readDayRange, USAGE_SPANS } from '../../../src/domain/usage-days.ts';
import type { DayRange } from '../../../src/domain/usage-days.ts';
import { idAt, writtenTeam } from '../../support/written-history.ts';
import type { WrittenTeam } from '../../support/written-history.ts';

const ACME: WrittenTeam = {
  name: 'Acme',
  days: {
    '2026-10-31': { backend: [100, 2], website: [30, 3] },
    '2026-11-01': { website: [7, 1] },
    '2026-11-02': { backend: [1000, 10] },
  },
};

const RANGE = readDayRange('2026-10-01', '2026-11-30') as DayRange;
const ask = (question: Partial<UsageQuestion>): UsageQuestion => ({ range: RANGE, by: 'day', keys: false, teamId: undefined, ...question });
const short = ({ date, label, character_count, request_count }: UsageRow) => [date, label, character_count, request_count];

describe('rows', () => {
  const acme = writtenTeam(ACME, 1);

  test('by day', () => {
    expect(usageRows(acme, ask({}))).toEqual(
      [
        ['2026-10-31', 130, 5],
        ['2026-11-01', 7, 1],
        ['2026-11-02', 1000, 10],
      ].map(([date, character_count, request_count]) => ({
        team_id: idAt('T', 1),
        name: 'Acme',
        plan: 'pro',
        date,
        character_count,
        request_count,
        test_character_count: 0,
      })),
    );
  });

  test('by month', () => {
    expect(usageRows(acme, ask({ by: 'month' })).map(short)).toEqual([
      ['2026-10', undefined, 130, 5],
      ['2026-11', undefined, 1007, 11],
    ]);
  });

  test('in total', () => {
    expect(usageRows(acme, ask({ by: 'total' })).map(short)).toEqual([[null, undefined, 1137, 16]]);
  });

  test('for keys, in the order of their creation', () => {
    expect(usageRows(acme, ask({ by: 'month', keys: true }))).toEqual(
      [
        ['2026-10', 0, 'backend', 100, 2],
        ['2026-10', 1, 'website', 30, 3],
        ['2026-11', 0, 'backend', 1000, 10],
        ['2026-11', 1, 'website', 7, 1],
      ].map(([date, key, label, character_count, request_count]) => ({
        team_id: idAt('T', 1),
        name: 'Acme',
        plan: 'pro',
        date,
        character_count,
        request_count,
        key_id: idAt('K', 100 + Number(key)),
        display: `la_live_000${key}`,
        label,
        mode: 'live',
        test_character_count: 0,
      })),
    );
  });

  test('what test keys used is told apart, and still counted', () => {
    const keys = acme.keys.map((key) => (key.label === 'website' ? { ...key, mode: 'test' as const } : key));
    const counts = (question: Partial<UsageQuestion>) =>
      usageRows({ ...acme, keys }, ask(question)).map(({ character_count, test_character_count }) => [
        character_count,
        test_character_count,
      ]);
    expect(counts({ by: 'total' })).toEqual([[1137, 37]]);
    expect(counts({ by: 'month' })).toEqual([
      [130, 30],
      [1007, 7],
    ]);
    expect(counts({ by: 'total', keys: true })).toEqual([
      [1100, 0],
      [37, 37],
    ]);
  });

  test('without usage there are none, not even a total', () => {
    const idle = writtenTeam({ name: 'Idle', days: {} }, 2);
    for (const by of USAGE_SPANS) for (const keys of [true, false]) expect(usageRows(idle, ask({ by, keys }))).toEqual([]);
  });
});

test('whatever was used, every way to add it up gives the same total, and no date occurs twice', () => {
  const used = fc.dictionary(
    fc.integer({ min: 0, max: 60 }).map((day) => dateOf(RANGE.from + day)),
    fc.dictionary(fc.constantFrom('a', 'b', 'c'), fc.tuple(fc.nat(1e6), fc.nat(50))),
  );
  fc.assert(
    fc.property(used, (days) => {
      const team = writtenTeam({ name: 'Any', days }, 1);
      const sum = team.days.reduce((all, { characters, requests }) => [all[0]! + characters, all[1]! + requests], [0, 0]);
      for (const by of USAGE_SPANS) {
        for (const keys of [true, false]) {
          const rows = usageRows(team, ask({ by, keys }));
          expect(rows.reduce((all, row) => [all[0]! + row.character_count, all[1]! + row.request_count], [0, 0])).toEqual(sum);
          const dates = rows.map(({ date, key_id: key }) => `${date} ${key}`);
          expect(new Set(dates).size).toBe(dates.length);
          expect(rows.map(({ date }) => date ?? '')).toEqual(rows.map(({ date }) => date ?? '').toSorted());
        }
      }
    }),
  );
  expect(dayOfDate('2026-11-30')! - RANGE.from).toBe(60);
});
