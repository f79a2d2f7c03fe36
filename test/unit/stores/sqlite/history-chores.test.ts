// Days and periods of idle teams: recorded soon after they end, a few at a time, and deleted when their retention is over.
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { DAY_MS, dayOf } from '../../../../src/domain/period.ts';
import { answered } from '../../../../src/domain/store-unavailable.ts';
import type { PluginStore } from '../../../../src/ports/plugin.ts';
import { MovableClock } from '../../../../src/testing/movable-clock.ts';
import { freshKey, teamUnderTest } from '../../../../src/testing/store/team-under-test.ts';
import type { TeamUnderTest } from '../../../../src/testing/store/team-under-test.ts';
import { janitorOn } from './janitor-under-test.ts';
import type { JanitorUnderTest } from './janitor-under-test.ts';
import { sqliteFile } from './sqlite-file.ts';
import type { SqliteFile } from './sqlite-file.ts';

let file: SqliteFile;
let clock: MovableClock;
let store: PluginStore;

beforeEach(async () => {
  file = sqliteFile();
  clock = new MovableClock();
  store = await file.open({ clock });
});

afterEach(() => file.remove());

async function use(team: TeamUnderTest, characters: number, keyId = team.keyId): Promise<void> {
  await team.commit((await team.reserve(characters, { keyId })).requestId);
}

function numbers(sql: string): number[] {
  return file.query(sql).map((row) => Number(Object.values(row)[0]));
}

test('without any call, days are recorded and periods closed within ten seconds of their end', async () => {
  const team = await teamUnderTest(store, { period: 'P1D' });
  await use(team, 7);
  clock.step(DAY_MS);
  const atMs = performance.now();
  await vi.waitFor(() => expect(numbers('SELECT closed_characters FROM periods ORDER BY no')).toEqual([7, 0]), {
    timeout: 60_000,
    interval: 50,
  });
  await vi.waitFor(() => expect(numbers('SELECT characters FROM usage_days')).toEqual([7]), { timeout: 60_000, interval: 50 });
  expect(performance.now() - atMs).toBeLessThan(10_000);
});

describe('one round', () => {
  const reported: string[] = [];
  let janitor: JanitorUnderTest;
  /** This janitor's clock is ahead of the store's by this much, so that the store's own janitor does not run first. */
  let aheadMs: number;

  beforeEach(async () => {
    reported.length = 0;
    aheadMs = 0;
    janitor = await janitorOn(
      file.path,
      { nowMs: () => clock.nowMs() + aheadMs },
      {
        historyDays: 3,
        hooks: {
          charged: () => undefined,
          dayFinished: ({ teamId }, day) => void reported.push(`${teamId} day ${day}`),
          periodClosed: ({ teamId }, no) => void reported.push(`${teamId} period ${no}`),
        },
      },
    );
  });

  afterEach(() => janitor.close());

  /** Sweeps until nothing more is found; returns the count by `sql` after each round. */
  async function rounds(sql: string): Promise<number[]> {
    const counts: number[] = [];
    do {
      await janitor.sweep();
      counts.push(numbers(sql)[0]!);
    } while (janitor.history.hasMore && counts.length < 50);
    return counts;
  }

  test('is bounded, is repeated at once while there is more, and leaves out none of many teams', async () => {
    const teams = await Promise.all(Array.from({ length: 120 }, () => teamUnderTest(store, { period: 'P1D' })));
    await Promise.all(teams.map((team) => use(team, 5)));
    aheadMs = DAY_MS;
    const counts = await rounds('SELECT count(*) FROM usage_days');
    expect(counts[0]).toBeLessThan(60);
    expect(counts.at(-1)).toBe(120);
    expect(numbers('SELECT count(*) FROM periods WHERE closed_characters = 5')).toEqual([120]);
    expect(numbers('SELECT count(*) FROM books WHERE day > 0')).toEqual([0]);
  });

  test('reports each day and each period once, after its rows were written', async () => {
    const team = await teamUnderTest(store, { period: 'P1D' });
    const day = dayOf(clock.nowMs());
    await use(team, 5);
    aheadMs = DAY_MS;
    await janitor.sweep();
    await janitor.sweep();
    expect(reported.toSorted()).toEqual([`${team.teamId} day ${day}`, `${team.teamId} period 1`]);
  });

  test('does not close a period with an open reservation, nor skip it later', async () => {
    const team = await teamUnderTest(store, { period: 'PT2S' });
    await use(team, 5);
    const { requestId } = await team.reserve(6);
    clock.step(2000);
    await janitor.sweep();
    expect(numbers('SELECT count(*) FROM periods WHERE closed_characters IS NOT NULL')).toEqual([0]);
    await team.commit(requestId);
    await janitor.sweep();
    expect(numbers('SELECT closed_characters FROM periods WHERE no = 1')).toEqual([11]);
  });

  test('writes no row for periods without usage', async () => {
    const team = await teamUnderTest(store, { period: 'PT2S' });
    for (let n = 0; n < 20; n++) {
      if (n === 7) await use(team, 1);
      clock.step(2000);
      await janitor.sweep();
    }
    expect(numbers('SELECT coalesce(closed_characters, -1) FROM periods ORDER BY no')).toEqual([1, -1]);
  });

  test('deletes what is older than its retention, and nothing else', async () => {
    const teams = [await teamUnderTest(store, { period: 'P1D' }), await teamUnderTest(store, { period: 'P1D' })] as const;
    const spare = freshKey(teams[0].teamId);
    answered(await store.teams.createKey(spare));
    const first = dayOf(clock.nowMs());
    for (let n = 0; n < 6; n++) {
      for (const team of teams) await use(team, 1);
      await use(teams[0], 10, spare.keyId);
      clock.step(DAY_MS);
    }
    expect((await rounds('SELECT count(*) FROM usage_days')).at(-1)).toBe(9);
    expect(numbers('SELECT DISTINCT day FROM usage_days ORDER BY day')).toEqual([first + 3, first + 4, first + 5]);
    // The oldest that remains ended three days ago to the millisecond.
    expect(numbers('SELECT count(*) FROM periods WHERE closed_characters IS NOT NULL')).toEqual([8]);
    expect(numbers('SELECT count(DISTINCT period_no) FROM usage')).toEqual([4]);
    const kept = await file.open({ clock, historyDays: 3 });
    const { days } = answered(await kept.history.days(teams[0].teamId, { from: first, to: first + 10 }))!;
    expect(days.map(({ day }) => day - first)).toEqual([3, 3, 4, 4, 5, 5]);
    expect((await use(teams[0], 1), await teams[0].usage())).toMatchObject({ characters: 1 });
    expect(file.query('PRAGMA foreign_key_check')).toEqual([]);
  });

  test('deletes what was counted by tag with the days, and tags of which nothing is left', async () => {
    const team = await teamUnderTest(store, { period: 'P1D' });
    const first = dayOf(clock.nowMs());
    for (let n = 0; n < 6; n++) {
      await team.use(1, { tag: { name: 'daily', distinctMax: 10 } });
      if (n === 1) await team.use(1, { tag: { name: 'once', distinctMax: 10 } });
      clock.step(DAY_MS);
    }
    await rounds('SELECT count(*) FROM usage_days');
    const left = answered(await store.tags.days(team.teamId, { from: 0, to: first + 10 }));
    expect(left.map(({ tag, day }) => [tag, day - first])).toEqual([
      ['daily', 3],
      ['daily', 4],
      ['daily', 5],
    ]);
    expect(numbers("SELECT count(*) FROM records WHERE kind = 'tag_counts'")).toEqual([1]);
  });

  test('looks at some hundred tags at a time, and drops what is old of each', async () => {
    const team = await teamUnderTest(store, { period: 'P1D' });
    await team.use(1, { tag: { name: 'of today', distinctMax: 10_000 } });
    const [{ no }] = file.query('SELECT no FROM teams') as [{ no: number }];
    const old = dayOf(clock.nowMs()) - 5;
    const put = janitor.database.prepare('INSERT INTO records VALUES (?, ?, ?, ?)');
    for (let n = 0; n < 1000; n++) {
      const day = n % 100 === 0 ? old + 4 : old;
      put.run(no, 'tag_counts', `tag-${n}`, `${day} 1 1`);
      if (n % 2 === 0) put.run(no, 'tag_days', `tag-${n}`, `${old - 1}:1:1 ${old}:2:1`);
    }
    const counts = await rounds("SELECT count(*) FROM records WHERE kind = 'tag_counts'");
    expect(counts.at(-1)).toBe(11);
    for (const [i, count] of counts.entries()) expect((counts[i - 1] ?? 1001) - count).toBeLessThanOrEqual(250);
    expect(numbers("SELECT count(*) FROM records WHERE kind = 'tag_days'")).toEqual([0]);
  });

  test('drops what was used of settings of tags a day after it can no longer be confused with what follows', async () => {
    const team = await teamUnderTest(store, { period: 'P1D' });
    const set = async (tag: string): Promise<void> => {
      expect(answered(await store.tagSettings.set(team.teamId, tag, { disabled: false, characters: 100 }, 10)).kind).toBe('set');
    };
    const left = (): unknown => file.query("SELECT id FROM records WHERE kind = 'tag_uses' ORDER BY id").map(({ id }) => id);
    for (const tag of ['kept', 'removed', 'set again']) await set(tag);
    const removed = { tag: { name: 'removed', distinctMax: 10 } };
    const before = await team.reserve(60, { ...removed, leaseMs: 9 * DAY_MS });
    for (const tag of ['removed', 'set again']) expect(answered(await store.tagSettings.remove(team.teamId, tag))).toBe(true);
    await set('set again');
    clock.step(DAY_MS - 60_000);
    await rounds('SELECT count(*) FROM records');
    expect(left()).toEqual(['kept', 'removed', 'set again']);
    clock.step(DAY_MS);
    await rounds('SELECT count(*) FROM records');
    expect(left()).toEqual(['kept', 'set again']);
    // What was reserved before is no longer counted, and does not come back.
    await set('removed');
    await team.reserve(60, removed);
    await team.release(before.requestId);
    expect(answered(await store.tagSettings.find(team.teamId, 'removed'))?.use.characters).toBe(60);
  });

  test('writes nothing when nothing is due', async () => {
    const team = await teamUnderTest(store, { period: 'P1D' });
    await use(team, 5);
    const changes = () => Number(janitor.database.prepare('SELECT total_changes() AS changes').get()?.['changes']);
    const before = changes();
    await janitor.sweep();
    expect(changes()).toBe(before);
  });
});

test('what is older than its retention is not returned, whether or not it was deleted yet', async () => {
  const short = await file.open({ clock, historyDays: 2 });
  const team = await teamUnderTest(short, { period: 'P1D' });
  const first = dayOf(clock.nowMs());
  await use(team, 5);
  clock.step(DAY_MS);
  await use(team, 6);
  clock.step(DAY_MS);
  const reported = async (): Promise<unknown> => [
    answered(await short.history.days(team.teamId, { from: first, to: first + 9 }))!.days.map(({ characters }) => characters),
    answered(await short.history.periods(team.teamId))!.map(({ characters }) => characters),
  ];
  expect(await reported()).toEqual([
    [5, 6],
    [0, 6, 5],
  ]);
  clock.step(DAY_MS + 1);
  expect(await reported()).toEqual([[6], [0, 6]]);
});
