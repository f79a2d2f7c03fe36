// The janitor of a SQLite file: it completes interrupted deletions of teams, and runs in processes that serve.
import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { answered } from '../../../../src/domain/store-unavailable.ts';
import { dayOf } from '../../../../src/domain/period.ts';
import { MovableClock } from '../../../../src/testing/movable-clock.ts';
import { created, DE, dictionary } from '../../../../src/testing/store/dictionaries-under-test.ts';
import { freshKey, teamUnderTest } from '../../../../src/testing/store/team-under-test.ts';
import type { TeamUnderTest } from '../../../../src/testing/store/team-under-test.ts';
import { openStore } from '../../../support/door/stores.ts';
import { promisedStore } from '../../../support/promised-store.ts';
import { SILENT } from '../../../support/silent-log.ts';
import { locationsOf } from '../../../support/store-search.ts';
import { sqliteFile } from './sqlite-file.ts';
import type { SqliteFile } from './sqlite-file.ts';

const KEYS = 12;

let file: SqliteFile;
let clock: MovableClock;

beforeEach(() => {
  file = sqliteFile();
  clock = new MovableClock();
});

afterEach(() => file.remove());

const stateOf = (teamId: string) => file.query(`SELECT erasure FROM teams WHERE team_id = '${teamId}'`)[0]?.['erasure'];

/** Deletes the team in a process that ends after the first step. */
async function cutOff(team: TeamUnderTest, keepUsage: boolean): Promise<void> {
  const { teamId } = team;
  const leaving = await file.open({ clock });
  // This loads the team into its memory.
  expect(await team.admit({ reserve: false }, leaving)).toMatchObject({ kind: 'admitted' });
  const deleting = leaving.teams.deleteTeam(teamId, { keepUsage });
  while (stateOf(teamId) === 0) await nextTurn();
  const asked = team.admit({ reserve: false }, leaving);
  await leaving.close();
  expect(await asked).toEqual({ kind: 'key_unknown' });
  expect(await deleting).toMatchObject({ kind: 'unavailable' });
}

/** The janitor of a store that is open sweeps every few seconds. */
async function swept(teamId: string, state: number | undefined): Promise<void> {
  await vi.waitFor(() => expect(stateOf(teamId)).toBe(state), { timeout: 60_000, interval: 50 });
}

test.each([false, true])('the janitor completes an interrupted deletion; usage is kept: %s', async (keepUsage) => {
  const store = await file.open({ clock });
  const [goes, stays] = [await teamUnderTest(store), await teamUnderTest(store)];
  const keys = Array.from({ length: KEYS }, () => freshKey(goes.teamId, 'a label'));
  for (const key of keys) answered(await store.teams.createKey(key));
  await created(store, goes.teamId, dictionary(DE));
  await goes.commit((await goes.reserve(5)).requestId);
  await goes.reserve(3);
  const words = keys.flatMap(({ digest, display }) => [digest, display]);
  await cutOff(goes, keepUsage);
  expect(stateOf(goes.teamId)).toBe(keepUsage ? 2 : 1);
  expect(await goes.admit()).toEqual({ kind: 'key_unknown' });
  expect((await locationsOf(`sqlite:${file.path}`, words)).length).toBeGreaterThan(0);
  await swept(goes.teamId, keepUsage ? 3 : undefined);
  // Shortly after, the write-ahead log is cut, too.
  await vi.waitFor(async () => expect(await locationsOf(`sqlite:${file.path}`, words)).toEqual([]), { timeout: 60_000, interval: 50 });
  const day = dayOf(clock.nowMs());
  if (keepUsage) {
    expect(stateOf(goes.teamId)).toBe(3);
    const retained = answered(await store.history.days(goes.teamId, { from: day, to: day }))!;
    expect(retained.days).toEqual([{ day, keyId: goes.keyId, characters: 5, requests: 1 }]);
    expect(await store.glossaries.list(goes.teamId)).toEqual([]);
  } else {
    expect(await locationsOf(`sqlite:${file.path}`, [goes.teamId, goes.keyId, ...keys.map(({ keyId }) => keyId)])).toEqual([]);
  }
  expect(await stays.admit()).toMatchObject({ kind: 'admitted' });
  expect(file.query('PRAGMA foreign_key_check')).toEqual([]);
});

test('a process that does not serve, such as a command, leaves what is over to those that do', async () => {
  const opened = (maintains: boolean) => openStore(`sqlite:${file.path}`, { log: SILENT, clock, commandTimeoutMs: 5000, maintains });
  const open = () => file.query('SELECT count(*) AS n FROM operations')[0]?.['n'];
  const command = await opened(false);
  await (await teamUnderTest(promisedStore(command))).reserve(3, { leaseMs: 500 });
  clock.step(1000);
  // Longer than the pause between two rounds.
  await delay(2500);
  expect(open()).toBe(1);
  const serving = await opened(true);
  await vi.waitFor(() => expect(open()).toBe(0), { timeout: 60_000, interval: 50 });
  await Promise.all([command.close(), serving.close()]);
});
