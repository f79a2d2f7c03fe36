// Group commit: one tick is one transaction; a bug fails only its own operation, and a fault fails the whole group and keeps nothing.
import { DatabaseSync } from 'node:sqlite';
import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { answered } from '../../../../src/domain/store-unavailable.ts';
import { GroupCommit } from '../../../../src/stores/sqlite/group-commit.ts';
import { freshKey, teamUnderTest } from '../../../../src/testing/store/team-under-test.ts';
import { commitsInWal, sqliteFile } from './sqlite-file.ts';
import type { SqliteFile } from './sqlite-file.ts';
import { SILENT } from '../../../support/silent-log.ts';

const CLOCK = { nowMs: () => Date.now() };

let file: SqliteFile;

beforeEach(() => {
  file = sqliteFile();
});

afterEach(() => file.remove());

describe('the store', () => {
  test('what is acknowledged is visible to other connections by then', async () => {
    const store = await file.open();
    const team = await teamUnderTest(store);
    const key = freshKey(team.teamId);
    answered(await store.teams.createKey(key));
    answered(await store.teams.revokeKey(key.keyId));
    const seen = file.query(`SELECT record ->> 'status' AS status FROM keys WHERE key_id = '${key.keyId}'`);
    expect(seen).toEqual([{ status: 'revoked' }]);
  });

  test('an operation that the schema refuses fails alone: the others of its tick are committed', async () => {
    const store = await file.open();
    const team = await teamUnderTest(store);
    const key = freshKey(team.teamId);
    answered(await store.teams.createKey(key));
    const taken = { ...freshKey(team.teamId), digest: key.digest };
    const [first, twice, second] = await Promise.allSettled([team.admit(), store.teams.createKey(taken), team.admit()]);
    expect(first).toMatchObject({ status: 'fulfilled', value: { kind: 'admitted' } });
    expect(twice).toMatchObject({ status: 'rejected' });
    expect(second).toMatchObject({ status: 'fulfilled', value: { kind: 'admitted' } });
    expect(await team.standing()).toMatchObject({ openReservations: 2, heldCharacters: 20 });
  });
});

test('the probe commits a write', async () => {
  const store = await file.open();
  const beside = new DatabaseSync(file.path);
  const version = () => beside.prepare('PRAGMA user_version').get();
  const changes = () => Number(Object.values(beside.prepare('PRAGMA data_version').get()!)[0]);
  const [before, was] = [version(), changes()];
  expect(await store.ping()).toBeUndefined();
  // Only another connection's commit changes this connection's data_version.
  expect(changes()).not.toBe(was);
  expect(version()).toEqual(before);
  beside.close();
});

describe('a group', () => {
  let database: DatabaseSync;
  let group: GroupCommit;
  let reported: unknown[];

  beforeEach(() => {
    reported = [];
    const log = { ...SILENT, error: (message: string, fields?: object) => reported.push([message, fields]) };
    database = new DatabaseSync(file.path);
    database.exec('PRAGMA journal_mode = WAL; CREATE TABLE notes (text TEXT NOT NULL UNIQUE) STRICT');
    group = new GroupCommit({ database, path: file.path, clock: CLOCK, log, busyTimeoutMs: 5000 });
  });

  afterEach(() => database.close());

  /** The answer, or why there is none. */
  async function run(work: () => string): Promise<string> {
    const answer = await group.run(work);
    return typeof answer === 'string' ? answer : answer.cause;
  }

  function write(text: string): Promise<string> {
    return run(() => {
      database.prepare('INSERT INTO notes VALUES (?)').run(text);
      return 'written';
    });
  }

  function notes(): unknown[] {
    return database
      .prepare('SELECT text FROM notes ORDER BY text')
      .all()
      .map((row) => row['text']);
  }

  test('gathers the operations of successive ticks while several callers wait', async () => {
    const patient = new GroupCommit({ database, path: file.path, clock: CLOCK, log: SILENT, busyTimeoutMs: 60_000, gatherMsMax: 60_000 });
    const add = (text: string) => patient.run(() => database.prepare('INSERT INTO notes VALUES (?)').run(text).changes);
    const before = commitsInWal(file.path);
    const added = [add('a'), add('b')];
    for (const text of ['c', 'd', 'e']) {
      await turn();
      added.push(add(text));
    }
    expect(await Promise.all(added)).toEqual([1, 1, 1, 1, 1]);
    expect(commitsInWal(file.path)).toBe(before + 1);
  });

  test('with a bug in the middle loses only what that operation had written', async () => {
    const bug = run(() => {
      database.exec("INSERT INTO notes VALUES ('half done')");
      throw new Error('a bug');
    });
    const results = await Promise.allSettled([write('a'), bug, write('b')]);
    expect(results.map((result) => (result.status === 'fulfilled' ? result.value : String(result.reason)))).toEqual([
      'written',
      'Error: a bug',
      'written',
    ]);
    expect(notes()).toEqual(['a', 'b']);
    expect(reported).toEqual([]);
  });

  test('on a full disk keeps nothing, logs nothing (the probe of the store does), and works again when there is room', async () => {
    const pages = Number(database.prepare('PRAGMA page_count').get()?.['page_count']);
    database.exec(`PRAGMA max_page_count = ${pages + 2}`);
    expect(await Promise.all([write('a'), write('b'.repeat(100_000)), write('c')])).toEqual(['full', 'full', 'full']);
    expect(await write('d'.repeat(100_000))).toBe('full');
    expect(notes()).toEqual([]);
    expect(reported).toEqual([]);
    database.exec('PRAGMA max_page_count = 1000000');
    expect(await write('e')).toBe('written');
    expect(notes()).toEqual(['e']);
  });

  test('whose COMMIT fails keeps nothing, and the next one is unaffected', async () => {
    database.exec('CREATE TABLE ties (note TEXT REFERENCES notes (text) DEFERRABLE INITIALLY DEFERRED)');
    const loose = run(() => {
      database.exec("INSERT INTO ties VALUES ('nowhere')");
      return 'written';
    });
    expect(await Promise.all([write('a'), loose])).toEqual(['internal', 'internal']);
    expect(notes()).toEqual([]);
    expect(await write('b')).toBe('written');
  });
});
