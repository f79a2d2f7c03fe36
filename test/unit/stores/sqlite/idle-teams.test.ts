// Idle teams: their expired reservations are released.
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { PluginStore } from '../../../../src/ports/plugin.ts';
import { MovableClock } from '../../../../src/testing/movable-clock.ts';
import { LEASE_MS, teamUnderTest } from '../../../../src/testing/store/team-under-test.ts';
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

test('without any call, expired leases are released', async () => {
  const teams = [await teamUnderTest(store), await teamUnderTest(store)];
  for (const team of teams) await team.reserve(10);
  for (const team of teams) await team.touch();
  clock.step(LEASE_MS);
  await vi.waitFor(() => expect(count('SELECT count(*) FROM operations')).toBe(0), { timeout: 60_000, interval: 50 });
  for (const team of teams) expect(await team.standing()).toMatchObject({ heldCharacters: 0, openReservations: 0 });
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
