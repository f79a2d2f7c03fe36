// Opens a database file to read or write all of it: for the check, and both ends of a copy.
import { rmSync } from 'node:fs';
import { resolve } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { HALF_WRITTEN_SCHEMA, halfWritten, NoStoreError, StoreError } from '../../domain/store-unavailable.ts';
import { UNCOPIED_SHARED_TABLES } from '../records/record-tables.ts';
import { assertCurrent, assertOurs, isEmpty, versionOf } from './migrate.ts';
import { openAlone, openDatabase } from './open-database.ts';
import { SqliteReader } from './sqlite-reader.ts';
import { ERASING, ERASING_BUT_USAGE } from './sqlite-schema.ts';
import { SqliteWriter } from './sqlite-writer.ts';
import { asStoreFault, storeName } from './store-fault.ts';

const INTERRUPTED = 'a deletion has been interrupted; repeat it, or start a gateway';

/** Shared records but those that gateways write about themselves: a file with only these counts as empty. */
const NOT_OF_GATEWAYS = `kind NOT IN (${UNCOPIED_SHARED_TABLES.map((name) => `'${name}'`).join(', ')})`;

/** The tables that a copy includes. Rows of others are never silently left behind. */
export const COPIED_TABLES: ReadonlySet<string> = new Set([
  'window_counts',
  ...'teams books keys key_books key_limits periods usage usage_days operations changes'.split(' '),
  ...'records blobs pieces told_percents told_refusals audit shared_records'.split(' '),
]);

/** Rejects with a `StoreError` if the file cannot be read as it is: nothing is created or migrated. */
export async function openSqliteReader(path: string): Promise<SqliteReader> {
  const database = await openDatabase(path, 'full', { mayCreate: false, mayMigrate: false, anyFaults: true });
  database.exec('PRAGMA busy_timeout = 5000');
  return closedOnError(database, path, () => new SqliteReader({ database, path }));
}

/** The same, with no other process having the file open or able to open it. */
export async function openSqliteSource(path: string): Promise<SqliteReader> {
  const database = openAlone(path, { mayCreate: false });
  return closedOnError(database, path, () => {
    assertOurs(database, storeName(path));
    if (isEmpty(database)) throw new NoStoreError(storeName(path));
    assertCurrent(database, storeName(path));
    assertCopied(database, path);
    return new SqliteReader({ database, path, remembered: true });
  });
}

/** Rejects with a `StoreError` if the file is not empty, or half-written without `restart`. */
export async function openSqliteWriter(path: string, restart: boolean): Promise<SqliteWriter> {
  const found = openAlone(path, { mayCreate: true });
  const isHalf = versionOf(found) === HALF_WRITTEN_SCHEMA;
  const isKept = (table: string): boolean => hasRows(found, table, table === 'shared_records' ? NOT_OF_GATEWAYS : 'true');
  const kept = isHalf || isEmpty(found) ? [] : tablesOf(found).filter(isKept);
  found.close();
  if (isHalf && !restart) throw halfWritten(storeName(path));
  if (kept.length > 0) throw new StoreError(`${storeName(path)} is not empty (it has rows in ${kept.join(', ')}): choose an empty store`);
  if (isHalf) for (const ending of ['', '-wal', '-shm']) rmSync(resolve(path) + ending, { force: true });
  (await openDatabase(path, 'normal')).close();
  const database = openAlone(path, { mayCreate: false });
  database.exec(`PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON; PRAGMA user_version = ${HALF_WRITTEN_SCHEMA}`);
  database.exec('DELETE FROM shared_records');
  return new SqliteWriter(database, path);
}

export function tablesOf(database: DatabaseSync): string[] {
  return database
    .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name")
    .all()
    .map(({ name }) => String(name));
}

function hasRows(database: DatabaseSync, table: string, where = 'true'): boolean {
  return database.prepare(`SELECT 1 FROM "${table}" WHERE ${where} LIMIT 1`).get() !== undefined;
}

function assertCopied(database: DatabaseSync, path: string): void {
  const strange = tablesOf(database).find((table) => !COPIED_TABLES.has(table) && hasRows(database, table));
  const what = strange === undefined ? undefined : `rows of ${strange}`;
  const kept = hasRows(database, 'teams', `erasure BETWEEN ${ERASING} AND ${ERASING_BUT_USAGE}`) ? INTERRUPTED : undefined;
  const found = what ?? kept;
  if (found !== undefined) throw new StoreError(`${storeName(path)} holds data that cannot be copied: ${found}`);
}

function closedOnError<T>(database: DatabaseSync, path: string, open: () => T): T {
  try {
    return open();
  } catch (error) {
    database.close();
    throw asStoreFault(path, error);
  }
}
