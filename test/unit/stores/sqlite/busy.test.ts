// Another process holds the file's lock: no operation waits longer than the timeout, the event loop is not blocked, nothing overdue is done.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { ulid } from 'ulid';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { answered } from '../../../../src/domain/store-unavailable.ts';
import { freshKey, teamUnderTest } from '../../../../src/testing/store/team-under-test.ts';
import { sqliteFile } from './sqlite-file.ts';
import type { SqliteFile } from './sqlite-file.ts';

let file: SqliteFile;

beforeEach(() => {
  file = sqliteFile();
});

afterEach(() => file.remove());

test('an admission is answered unavailable after the timeout, and is never run', async () => {
  const setUp = await file.open();
  const store = await file.open({ commandTimeoutMs: 150 });
  const team = await teamUnderTest(setUp);
  const holder = file.child('lock-holder.ts');
  expect(await holder.nextLine()).toBe('locked');

  const requestId = ulid();
  const startedAtMs = performance.now();
  const admission = team.admit({ requestId }, store);
  expect(await admission).toMatchObject({ kind: 'unavailable', cause: 'busy' });
  expect(performance.now() - startedAtMs).toBeGreaterThanOrEqual(150);
  expect(await team.commit(requestId, store)).toMatchObject({ kind: 'unavailable', cause: 'busy' });

  holder.go();
  expect(await holder.nextLine()).toBe('free');
  expect(await team.standing(store)).toMatchObject({ openReservations: 0, heldCharacters: 0, usedCharacters: 0 });
  expect(await team.commit(requestId, store)).toEqual({ kind: 'absent' });
  expect(await team.admit({ requestId }, store)).toMatchObject({ kind: 'admitted' });
});

test('an admission that waits for the lock leaves the event loop free, and is run when it gets it', async () => {
  const store = await file.open({ commandTimeoutMs: 60_000 });
  const team = await teamUnderTest(store);
  const holder = file.child('lock-holder.ts');
  await holder.nextLine();
  let isAnswered = false;
  const admission = team.admit().finally(() => (isAnswered = true));
  // A driver that waits would have waited for the whole timeout after a turn or two, and would then have given up.
  for (let turns = 0; turns < 200; turns++) await nextTurn();
  expect(isAnswered).toBe(false);
  holder.go();
  expect(await admission).toMatchObject({ kind: 'admitted' });
});

test('meanwhile keys are found at once, and the advice is one line that says what is wrong', async () => {
  const setUp = await file.open();
  const store = await file.open({ commandTimeoutMs: 50 });
  const team = await teamUnderTest(setUp);
  const key = freshKey(team.teamId);
  answered(await setUp.teams.createKey(key));
  const holder = file.child('lock-holder.ts');
  await holder.nextLine();
  expect(store.keys.find(key.digest)).toEqual({ keyId: key.keyId, teamId: team.teamId, mode: key.mode });
  for (const call of [store.teams.revokeKey(key.keyId), store.teams.usage(team.teamId), store.ping()]) {
    const advice = expect.stringMatching(/^sqlite:.* is busy: another program holds its lock; .*\.$/) as string;
    expect(await call).toEqual({ kind: 'unavailable', cause: 'busy', advice });
  }
  holder.go();
  await holder.nextLine();
  expect(await setUp.teams.listKeys(team.teamId)).toMatchObject([{ status: 'active' }, { status: 'active' }]);
});
