// Opening a database: its settings, its permissions, how it gets its schema, and what is refused, with what an operator can do.
import { chmodSync, mkdirSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { answered, StoreError } from '../../../../src/domain/store-unavailable.ts';
import { openDatabase } from '../../../../src/stores/sqlite/open-database.ts';
import type { Durability } from '../../../../src/stores/sqlite/open-database.ts';
import { SCHEMA } from '../../../../src/stores/sqlite/schema.ts';
import { teamUnderTest } from '../../../../src/testing/store/team-under-test.ts';
import { sqliteFile } from './sqlite-file.ts';
import type { SqliteFile } from './sqlite-file.ts';

let file: SqliteFile;

beforeEach(() => {
  file = sqliteFile();
});

afterEach(() => file.remove());

function pragma(database: DatabaseSync, name: string): unknown {
  return Object.values(database.prepare(`PRAGMA ${name}`).get() ?? {})[0];
}

describe('settings', () => {
  test.each<[Durability, number]>([
    ['full', 2],
    ['normal', 1],
  ])('durability %s is in effect, with a WAL and a driver that never waits', async (durability, synchronous) => {
    const database = await openDatabase(file.path, durability);
    expect(pragma(database, 'journal_mode')).toBe('wal');
    expect(pragma(database, 'synchronous')).toBe(synchronous);
    expect(pragma(database, 'busy_timeout')).toBe(0);
    database.close();
  });

  test('every table is strict', async () => {
    const database = await openDatabase(file.path, 'full');
    const tables = database.prepare("SELECT name, strict FROM pragma_table_list WHERE schema = 'main' AND name NOT LIKE 'sqlite%'").all();
    expect(tables.length).toBeGreaterThanOrEqual(7);
    expect(tables.filter((table) => table['strict'] !== 1)).toEqual([]);
    database.close();
  });

  test('directory, file, WAL and shared memory are accessible to their owner only, even with the default umask', async () => {
    const path = join(file.directory, 'new', 'deeper', 'lingate.db');
    const store = await file.open({ path });
    const modes = ['', '-wal', '-shm'].map((suffix) => statSync(path + suffix).mode & 0o777);
    expect(modes).toEqual([0o600, 0o600, 0o600]);
    expect(statSync(join(file.directory, 'new')).mode & 0o777).toBe(0o700);
    expect(statSync(join(file.directory, 'new', 'deeper')).mode & 0o777).toBe(0o700);
    await store.close();
  });

  test('the mode that an operator gave an existing file is left alone', async () => {
    writeFileSync(file.path, '');
    chmodSync(file.path, 0o640);
    await file.open();
    expect(statSync(file.path).mode & 0o777).toBe(0o640);
  });

  test('a store in memory works, and leaves nothing behind', async () => {
    const store = await file.open({ path: ':memory:' });
    const team = await teamUnderTest(store);
    expect(await team.admit()).toMatchObject({ kind: 'admitted' });
  });

  test('a closed store has written its WAL back, answers unavailable, and may be closed again', async () => {
    const store = await file.open();
    const team = await teamUnderTest(store);
    await store.close();
    await store.close();
    expect(statSync(`${file.path}-wal`, { throwIfNoEntry: false })).toBeUndefined();
    expect(await team.admit()).toMatchObject({ kind: 'unavailable', cause: 'closed' });
    expect(store.keys.find('digest')).toMatchObject({ kind: 'unavailable', cause: 'closed' });
    for (const call of [store.ping(), store.teams.listTeams()]) expect(await call).toMatchObject({ kind: 'unavailable', cause: 'closed' });
  });
});

describe('the schema', () => {
  test('a new file gets the newest schema, and opened again it has its teams', async () => {
    const first = await file.open();
    const { teamId } = await teamUnderTest(first);
    await first.close();
    const second = await file.open();
    expect(answered(await second.teams.findTeam(teamId))?.name).toBe('Team under test');
    expect(file.query('PRAGMA user_version')).toEqual([{ user_version: SCHEMA }]);
  });

  test('many processes that open a new file at once all work, and its tables are created once', async () => {
    const stores = await Promise.all(Array.from({ length: 8 }, () => file.open()));
    await Promise.all(stores.map((store) => store.ping()));
    expect(file.query('SELECT count(*) AS teams FROM teams')).toEqual([{ teams: 0 }]);
  });
});

describe('refused in one line that says what to do:', () => {
  async function refusal(path = file.path): Promise<string> {
    const error: unknown = await file.open({ path }).then(
      () => undefined,
      (reason: unknown) => reason,
    );
    expect(error).toBeInstanceOf(StoreError);
    const { message } = error as StoreError;
    expect(message).not.toMatch(/[\n\r]/);
    return message;
  }

  test.each([SCHEMA + 1, SCHEMA - 1, 21])('a file of schema %s, which is unchanged', async (schema) => {
    await (await file.open()).close();
    file.query(`PRAGMA user_version = ${schema}`);
    const before = readFileSync(file.path);
    expect(await refusal()).toMatch(/another version of Lingate.*run that version, or name another file/);
    expect(readFileSync(file.path).equals(before)).toBe(true);
  });

  test("another program's database, which is unchanged", async () => {
    const other = new DatabaseSync(file.path);
    other.exec('CREATE TABLE songs (title TEXT)');
    other.close();
    const before = readFileSync(file.path);
    expect(await refusal()).toMatch(/database of another program; name another file/);
    expect(readFileSync(file.path).equals(before)).toBe(true);
  });

  test('a file that is not a database', async () => {
    writeFileSync(file.path, 'Dear diary, '.repeat(1000));
    expect(await refusal()).toMatch(/is not a SQLite database; name another file/);
  });

  test.each([
    ['with a page overwritten', (path: string, bytes: Buffer) => writeFileSync(path, bytes.fill(0xa5, 4096 * 2, 4096 * 3))],
    ['that was truncated', (path: string, bytes: Buffer) => truncateSync(path, Math.floor(bytes.length / 4096 / 2) * 4096)],
  ])('a database %s', async (_what, damage) => {
    const store = await file.open();
    await teamUnderTest(store);
    await store.close();
    damage(file.path, readFileSync(file.path));
    expect(await refusal()).toMatch(/is damaged; restore it from a backup/);
  });

  test.each([
    ['a directory', (directory: string) => directory, /is not a file; name a file/],
    ['a path below a file', (directory: string) => join(directory, 'plain', 'lingate.db'), /cannot be opened; name a file in a directory/],
    ['an empty path', () => '', /needs the path of a file/],
    ['a path with a NUL', () => 'a\0b', /needs the path of a file/],
    ['a path with a line break, shown without it', (directory: string) => join(directory, 'plain', 'a\nb'), /plain\/a\?b cannot be opened/],
  ])('%s', async (_what, pathIn, message) => {
    writeFileSync(join(file.directory, 'plain'), '');
    expect(await refusal(pathIn(file.directory))).toMatch(message);
  });

  test('but not a path that only looks like a URI, which is an ordinary file', async () => {
    mkdirSync(join(file.directory, 'file:x'));
    const store = await file.open({ path: join(file.directory, 'file:x', 'a.db?mode=memory') });
    expect(statSync(join(file.directory, 'file:x', 'a.db?mode=memory')).isFile()).toBe(true);
    await store.close();
  });
});
