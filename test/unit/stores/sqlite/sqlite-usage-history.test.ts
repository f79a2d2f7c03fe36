// The days of a team with many rows are read in batches between which the ledger continues, and are consistent all the same.
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { DAY_MS, dayOf } from '../../../../src/domain/period.ts';
import { answered } from '../../../../src/domain/store-unavailable.ts';
import type { PluginStore } from '../../../../src/ports/plugin.ts';
import type { TeamDays } from '../../../../src/ports/usage-history.ts';
import { MovableClock } from '../../../../src/testing/movable-clock.ts';
import { freshKey, teamUnderTest } from '../../../../src/testing/store/team-under-test.ts';
import type { TeamUnderTest } from '../../../../src/testing/store/team-under-test.ts';
import { sqliteFile } from './sqlite-file.ts';
import type { SqliteFile } from './sqlite-file.ts';

const KEYS = 15;
const DAYS = 390;

let file: SqliteFile;
let clock: MovableClock;
let store: PluginStore;
let team: TeamUnderTest;
let today: number;

beforeEach(async () => {
  file = sqliteFile();
  clock = new MovableClock();
  store = await file.open({ clock });
  team = await teamUnderTest(store);
  today = dayOf(clock.nowMs());
  for (let i = 1; i < KEYS; i++) answered(await store.teams.createKey(freshKey(team.teamId)));
  const database = new DatabaseSync(file.path, { timeout: 5000 });
  const fill = database.prepare('INSERT INTO usage SELECT team, no, 1, $day, $day + no, no, 0, 0 FROM keys');
  database.exec('BEGIN');
  for (let day = today - DAYS; day < today; day++) fill.run({ $day: day });
  database.exec('COMMIT');
  database.close();
});

afterEach(() => file.remove());

async function use(characters: number): Promise<void> {
  await team.commit((await team.reserve(characters)).requestId);
}

async function all(): Promise<TeamDays> {
  return answered(await store.history.days(team.teamId, { from: today - DAYS, to: today + 1 }))!;
}

/** The characters of each day, and how many rows it has. */
function byDay({ days }: TeamDays): Map<number, { characters: number; rows: number }> {
  const found = new Map<number, { characters: number; rows: number }>();
  for (const { day, characters } of days) {
    const { characters: before, rows } = found.get(day) ?? { characters: 0, rows: 0 };
    found.set(day, { characters: before + characters, rows: rows + 1 });
  }
  return found;
}

test('each row is returned once and in order, the current day last', async () => {
  await use(7);
  const read = await all();
  expect(read.days).toHaveLength(KEYS * DAYS + 1);
  expect(read.days.at(-1)).toEqual({ day: today, keyId: team.keyId, characters: 7, requests: 1 });
  expect(read.keys).toEqual(await store.teams.listKeys(team.teamId));
  const numbers = new Map(read.keys.map(({ keyId }, index) => [keyId, index + 1]));
  const told = read.days.slice(0, -1).map(({ day, keyId, characters, requests }) => [day, numbers.get(keyId), characters, requests]);
  const expected = Array.from({ length: KEYS * DAYS }, (_, n) => {
    const [day, no] = [today - DAYS + Math.floor(n / KEYS), 1 + (n % KEYS)];
    return [day, no, day + no, no];
  });
  expect(told).toEqual(expected);
});

test('a current day among earlier ones, after the clock has stepped back, includes what it had already', async () => {
  clock.step(-100 * DAY_MS);
  await use(7);
  const days = byDay(await all());
  const day = today - 100;
  expect([...days.keys()]).toEqual(Array.from({ length: DAYS }, (_, n) => today - DAYS + n));
  expect(days.get(day)).toEqual({ characters: days.get(day - 1)!.characters + KEYS + 7, rows: KEYS });
});

test('a day that ends during the read is returned once, with its total', async () => {
  await use(7);
  const reading = all();
  // The answer is the same whether it ends before, between or after the batches.
  await new Promise((resolve) => setImmediate(resolve));
  clock.step(DAY_MS);
  const [read] = await Promise.all([reading, use(9)]);
  const days = byDay(read);
  expect(days.get(today)).toEqual({ characters: 7, rows: 1 });
  expect(days.get(today - 1)?.rows).toBe(KEYS);
  const after = byDay(await all());
  expect(after.get(today)).toEqual({ characters: 7, rows: 1 });
  expect(after.get(today + 1)).toEqual({ characters: 9, rows: 1 });
});

test('the event loop turns between batches', async () => {
  const turnsOf = async (from: number): Promise<number> => {
    let turns = 0;
    let isDone = false;
    const count = (): void => {
      turns++;
      if (!isDone) setImmediate(count);
    };
    setImmediate(count);
    await store.history.days(team.teamId, { from, to: today });
    isDone = true;
    return turns;
  };
  // The minimum of several: a transaction that waits for another one takes additional turns.
  const few = Math.min(await turnsOf(today - 1), await turnsOf(today - 1), await turnsOf(today - 1));
  const many = await turnsOf(today - DAYS);
  // 5,850 rows, read 2,000 at a time.
  expect(many).toBeGreaterThanOrEqual(few + 2);
});
