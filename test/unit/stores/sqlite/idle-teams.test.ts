// Idle teams: their expired reservations are released and remembered ids deleted, a few at a time.
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { REMEMBER_MS } from '../../../../src/domain/reservation.ts';
import type { PluginStore } from '../../../../src/ports/plugin.ts';
import { MovableClock } from '../../../../src/testing/movable-clock.ts';
import { LEASE_MS, teamUnderTest } from '../../../../src/testing/store/team-under-test.ts';
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

function count(sql: string): number {
  return Number(Object.values(file.query(sql)[0] ?? {})[0]);
}

test('without any call, expired leases are released and ids that are due are deleted', async () => {
  const teams = [await teamUnderTest(store), await teamUnderTest(store)];
  for (const team of teams) await team.reserve(10);
  for (const team of teams) await team.touch();
  clock.step(LEASE_MS + REMEMBER_MS);
  await vi.waitFor(() => expect(count('SELECT count(*) FROM operations')).toBe(0), { timeout: 60_000, interval: 50 });
  expect(count('SELECT sum(held_characters) FROM books')).toBe(0);
});

test('later admissions delete old ids as fast as new ones are added', async () => {
  const team = await teamUnderTest(store);
  for (let burst = 0; burst < 8; burst++) {
    await Promise.all(Array.from({ length: 100 }, () => team.touch()));
    clock.step(REMEMBER_MS);
  }
  expect(count('SELECT count(*) FROM operations')).toBeLessThan(250);
});

test('later admissions delete old slots of the window, even if the limit has changed', async () => {
  const team = await teamUnderTest(store);
  for (let burst = 0; burst < 12; burst++) {
    if (burst === 6) await team.setLimits({ requestsPerSecond: 100 });
    await Promise.all(Array.from({ length: 100 }, () => team.touch()));
    clock.step(1000);
  }
  // A byte or two for each millisecond in which slots were taken.
  expect(count('SELECT length(window) FROM books')).toBeLessThan(50);
});

describe('one round', () => {
  let janitor: JanitorUnderTest;

  beforeEach(async () => {
    janitor = await janitorOn(file.path, clock);
  });

  afterEach(() => janitor.close());

  test('is bounded, and further rounds leave nothing stranded in the account of any of many teams', async () => {
    const teams = await Promise.all(Array.from({ length: 12 }, () => teamUnderTest(store)));
    await Promise.all(teams.flatMap((team) => Array.from({ length: 70 }, () => team.reserve(3))));
    clock.step(LEASE_MS);
    const left: number[] = [];
    do {
      await janitor.sweep();
      left.push(count('SELECT count(*) FROM operations WHERE state = 0'));
    } while (left.at(-1)! > 0 && left.length < 20);
    expect(left[0]).toBeGreaterThan(0);
    expect(left.at(-1)).toBe(0);
    expect(count('SELECT sum(held_characters) FROM books')).toBe(0);
    expect(count('SELECT count(*) FROM operations WHERE state = 3')).toBe(12 * 70);
  });

  test('takes no lock and writes nothing when nothing is due', async () => {
    const team = await teamUnderTest(store);
    await team.reserve(10);
    const changes = () => Number(janitor.database.prepare('SELECT total_changes() AS changes').get()?.['changes']);
    const before = changes();
    const holder = file.child('lock-holder.ts');
    expect(await holder.nextLine()).toBe('locked');
    await janitor.sweep();
    holder.go();
    expect(await holder.nextLine()).toBe('free');
    expect(changes()).toBe(before);
  });

  test('leaves alone what is not due: a reservation or an id a millisecond before its end', async () => {
    const team = await teamUnderTest(store);
    const { requestId } = await team.reserve(10);
    clock.step(LEASE_MS - 1);
    await janitor.sweep();
    expect(await team.standing()).toMatchObject({ openReservations: 1 });
    clock.step(1);
    await janitor.sweep();
    expect(count('SELECT count(*) FROM operations WHERE state = 0')).toBe(0);
    clock.step(REMEMBER_MS - 1);
    await janitor.sweep();
    expect(await team.commit(requestId)).toEqual({ kind: 'expired' });
    clock.step(1);
    await janitor.sweep();
    expect(count('SELECT count(*) FROM operations')).toBe(0);
  });
});
