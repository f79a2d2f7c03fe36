// Around a migration: which commands may migrate, the copy that is made first, and what happens if copying or a step fails.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { HALF_WRITTEN_SCHEMA, StoreError } from '../../../../src/domain/store-unavailable.ts';
import type { StoreMigration } from '../../../../src/ports/store.ts';
import { migrate } from '../../../../src/stores/sqlite/migrate.ts';
import { MIGRATIONS, SCHEMA } from '../../../../src/stores/sqlite/schema-steps.ts';
import { sqliteFile } from './sqlite-file.ts';
import type { SqliteFile } from './sqlite-file.ts';

/** A file that lacks a number of plans is an older version's, of the same schema. */
const OLD = SCHEMA;
const COPY = `before-${SCHEMA}`;
let file: SqliteFile;

beforeEach(() => {
  file = sqliteFile();
  writeOld();
});
afterEach(() => file.remove());

function writeOld(): void {
  const database = new DatabaseSync(file.path);
  database.exec('PRAGMA journal_mode = WAL');
  migrate(database, 'sqlite:test');
  database.exec("ALTER TABLE teams DROP COLUMN minor_per_million; INSERT INTO shared_records VALUES ('gateways', 'of the old one', '{}')");
  database.close();
}

function columnsIn(database: DatabaseSync): unknown[] {
  return database
    .prepare('PRAGMA table_info(teams)')
    .all()
    .map(({ name }) => name);
}

function beside(): string[] {
  return readdirSync(file.directory)
    .filter((name) => !/-(wal|shm)$/.test(name))
    .toSorted();
}

async function refusal(options: Parameters<SqliteFile['open']>[0] = {}): Promise<string> {
  const error = await file.open(options).then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(StoreError);
  return (error as StoreError).message;
}

test('a file of an older version is copied before it is migrated, once', async () => {
  const told: [string, StoreMigration][] = [];
  const creation = { onMigrated: (place: string, migration: StoreMigration) => void told.push([place, migration]) };
  await (await file.open({ creation })).close();
  await (await file.open({ creation })).close();
  const copy = `${file.path}.${COPY}`;
  expect(told).toEqual([[`sqlite:${file.path}`, { from: OLD, to: SCHEMA, copy }]]);
  expect(beside()).toEqual(['lingate.db', basename(copy)]);
  const copied = new DatabaseSync(copy);
  expect(copied.prepare('PRAGMA user_version').get()).toEqual({ user_version: OLD });
  expect(copied.prepare('SELECT id, value FROM shared_records').all()).toEqual([{ id: 'of the old one', value: '{}' }]);
  expect(columnsIn(copied)).not.toContain('minor_per_million');
  expect(file.query("SELECT name FROM pragma_table_info('teams')")).toContainEqual({ name: 'minor_per_million' });
  copied.close();
});

test('several processes that open it at once make one copy', async () => {
  await Promise.all(Array.from({ length: 6 }, () => file.open()));
  expect(beside()).toEqual(['lingate.db', `lingate.db.${COPY}`]);
});

test('an existing copy is not overwritten', async () => {
  writeFileSync(`${file.path}.${COPY}`, 'an earlier one');
  await (await file.open()).close();
  expect(readFileSync(`${file.path}.${COPY}`, 'utf8')).toBe('an earlier one');
  expect(beside()).toEqual(['lingate.db', `lingate.db.${COPY}`, `lingate.db.${COPY}.2`]);
});

test('a new file is not copied', async () => {
  await file.remove();
  file = sqliteFile();
  await (await file.open()).close();
  expect(beside()).toEqual(['lingate.db']);
});

test('a command that may not migrate names those that may, and the file is left as it is', async () => {
  const message = await refusal({ creation: { mayMigrate: false } });
  expect(message).toBe(
    `sqlite:${file.path} was written by an older Lingate (schema ${OLD}, this one has ${SCHEMA}): run "lingate store migrate" or "lingate serve", which copy it before they change it.`,
  );
  expect(file.query("SELECT name FROM pragma_table_info('teams')")).not.toContainEqual({ name: 'minor_per_million' });
  expect(beside()).toEqual(['lingate.db']);
  await (await file.open()).close();
  await (await file.open({ creation: { mayMigrate: false } })).close();
});

test('without a copy there is no migration', () => {
  const database = new DatabaseSync(file.path);
  const copy = (): string => {
    throw new StoreError('no room');
  };
  expect(() => migrate(database, 'sqlite:test', { copy })).toThrow('no room');
  expect(database.isTransaction).toBe(false);
  expect(columnsIn(database)).not.toContain('minor_per_million');
  database.close();
});

test('a step that fails after the copy leaves the file as it was, and keeps the copy', () => {
  const database = new DatabaseSync(file.path);
  const steps = [...MIGRATIONS, 'SELECT no_such_function()'];
  expect(() => migrate(database, 'sqlite:test', { steps, copy: () => 'a copy' })).toThrow(/no_such_function/);
  database.close();
  expect(file.query('PRAGMA user_version')).toEqual([{ user_version: OLD }]);
  expect(file.query('SELECT * FROM shared_records')).toHaveLength(1);
});

test('an incomplete copy is refused as half-written', async () => {
  await (await file.open()).close();
  file.query(`PRAGMA user_version = ${HALF_WRITTEN_SCHEMA}`);
  expect(await refusal()).toMatch(/^the store sqlite:\S+ is half-written: .*repeat that "lingate store copy" with --restart/);
  expect(existsSync(`${file.path}.${COPY}.2`)).toBe(false);
});
