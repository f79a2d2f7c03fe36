// A key's held characters beside a process of an older version, which reserves and settles without counting them.
import { afterEach, expect, test } from 'vitest';
import { answered } from '../../../../src/domain/store-unavailable.ts';
import { freshKey, teamUnderTest } from '../../../../src/testing/store/team-under-test.ts';
import type { TeamUnderTest } from '../../../../src/testing/store/team-under-test.ts';
import { sqliteFile } from './sqlite-file.ts';
import type { SqliteFile } from './sqlite-file.ts';

let file: SqliteFile;
afterEach(() => file.remove());

/** A team and the id of one of its keys, which may have 100 characters. */
async function limitedKey(nowMs: () => number): Promise<{ readonly team: TeamUnderTest; readonly keyId: string }> {
  file = sqliteFile();
  const store = await file.open({ clock: { nowMs } });
  const team = await teamUnderTest(store);
  const key = { ...freshKey(team.teamId), limits: { characters: 100 } };
  answered(await store.teams.createKey(key));
  return { team, keyId: key.keyId };
}

/** As if the older process had counted the last reservation, or ended it, only for the team. */
const setHeld = (characters: number): unknown => file.query(`UPDATE key_limits SET held_characters = ${characters}`);

test('what the older process has reserved is settled, and its lease expires, as usual', async () => {
  let now = 1_790_000_000_000;
  const { team, keyId } = await limitedKey(() => now);
  const { requestId } = await team.reserve(60, { keyId });
  setHeld(0);
  expect(await team.commit(requestId)).toEqual({ kind: 'committed' });
  await team.reserve(30, { keyId, leaseMs: 1000 });
  setHeld(0);
  now += 1000;
  await team.reserve(40, { keyId });
  expect(await team.admit({ keyId, characters: 1 })).toMatchObject({ kind: 'quota_exceeded', characterLimit: 100 });
  expect(await team.standing()).toMatchObject({ openReservations: 1, heldCharacters: 40 });
});

test('what the older process has settled no longer counts for the key: it never holds more than its team', async () => {
  const { team, keyId } = await limitedKey(() => 1_790_000_000_000);
  setHeld(100);
  const { requestId } = await team.reserve(60, { keyId });
  expect(await team.admit({ keyId, characters: 41 })).toMatchObject({ kind: 'quota_exceeded', characterLimit: 100 });
  expect(await team.release(requestId)).toEqual({ kind: 'released' });
  expect(file.query('SELECT held_characters FROM key_limits')).toEqual([{ held_characters: 0 }]);
  expect((await team.admit({ keyId, characters: 100 })).kind).toBe('admitted');
});
