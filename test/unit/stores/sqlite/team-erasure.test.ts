// Interrupted deletions of teams in a SQLite file, which the janitor completes.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { answered } from '../../../../src/domain/store-unavailable.ts';
import { dayOf } from '../../../../src/domain/period.ts';
import { MovableClock } from '../../../../src/testing/movable-clock.ts';
import { created, DE, dictionary } from '../../../../src/testing/store/dictionaries-under-test.ts';
import { freshKey, teamUnderTest } from '../../../../src/testing/store/team-under-test.ts';
import type { TeamUnderTest } from '../../../../src/testing/store/team-under-test.ts';
import { placesOf } from '../../../support/store-search.ts';
import { janitorOn } from './janitor-under-test.ts';
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

async function swept(): Promise<void> {
  const janitor = await janitorOn(file.path, clock);
  await janitor.sweep();
  janitor.close();
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
  expect((await placesOf(`sqlite:${file.path}`, words)).length).toBeGreaterThan(0);
  await swept();
  expect(await placesOf(`sqlite:${file.path}`, words)).toEqual([]);
  const day = dayOf(clock.nowMs());
  if (keepUsage) {
    expect(stateOf(goes.teamId)).toBe(3);
    const kept = answered(await store.history.days(goes.teamId, { from: day, to: day }))!;
    expect(kept.days).toEqual([{ day, keyId: goes.keyId, characters: 5, requests: 1 }]);
    expect(await store.glossaries.list(goes.teamId)).toEqual([]);
  } else {
    expect(await placesOf(`sqlite:${file.path}`, [goes.teamId, goes.keyId, ...keys.map(({ keyId }) => keyId)])).toEqual([]);
  }
  expect(await stays.admit()).toMatchObject({ kind: 'admitted' });
  expect(file.query('PRAGMA foreign_key_check')).toEqual([]);
});

test.each([false, true])('janitors that join a deletion take nothing that it keeps; usage is kept: %s', async (keepUsage) => {
  const store = await file.open({ clock });
  const janitor = await janitorOn(file.path, clock);
  const day = dayOf(clock.nowMs());
  for (let round = 0; round < 5; round++) {
    const goes = await teamUnderTest(store);
    await goes.use(5);
    const sweeps: Promise<void>[] = [];
    const deleted: unknown[] = [];
    const deleting = store.teams.deleteTeam(goes.teamId, { keepUsage }).then((one) => deleted.push(one));
    // Each begins at another step, so some are still at work when the first has finished.
    for (; deleted.length === 0; await nextTurn()) sweeps.push(janitor.sweep());
    await deleting;
    expect(deleted).toEqual([true]);
    // Gets the number of a team that is wholly deleted.
    const next = await teamUnderTest(store);
    await next.use(7);
    await Promise.all(sweeps);
    const range = { from: day, to: day };
    expect(answered(await store.history.days(goes.teamId, range))?.days).toEqual(
      keepUsage ? [{ day, keyId: goes.keyId, characters: 5, requests: 1 }] : undefined,
    );
    expect(stateOf(goes.teamId)).toBe(keepUsage ? 3 : undefined);
    expect(answered(await store.history.days(next.teamId, range))?.days).toMatchObject([{ characters: 7 }]);
    expect(await next.admit()).toMatchObject({ kind: 'admitted' });
  }
  janitor.close();
  expect(file.query('PRAGMA foreign_key_check')).toEqual([]);
});

test.each([false, true])('a janitor that is overtaken in a deletion removes nothing more; usage is kept: %s', async (keepUsage) => {
  const store = await file.open({ clock });
  const range = { from: dayOf(clock.nowMs()), to: dayOf(clock.nowMs()) };
  const goes = await teamUnderTest(store);
  await goes.use(5);
  await cutOff(goes, keepUsage);
  let overtaken = 0;
  const midway = async (): Promise<void> => {
    if (overtaken++ > 0) return;
    await store.teams.deleteTeam(goes.teamId, { keepUsage });
    expect(stateOf(goes.teamId)).toBe(keepUsage ? 3 : undefined);
    // Gets the number of a team that is wholly deleted.
    const next = await teamUnderTest(store);
    await next.use(7);
    nextTeams.push(next);
  };
  const nextTeams: TeamUnderTest[] = [];
  const janitor = await janitorOn(file.path, clock, { midway });
  await janitor.sweep();
  janitor.close();
  expect(overtaken).toBeGreaterThan(0);
  expect(answered(await store.history.days(goes.teamId, range))?.days).toEqual(
    keepUsage ? [{ day: range.from, keyId: goes.keyId, characters: 5, requests: 1 }] : undefined,
  );
  const [next] = nextTeams;
  expect(answered(await store.history.days(next!.teamId, range))?.days).toMatchObject([{ characters: 7 }]);
  expect(await next!.admit()).toMatchObject({ kind: 'admitted' });
});
