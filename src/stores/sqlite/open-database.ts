// Opens the file: creates it readable only by its owner, rejects a damaged one or another program's, and sets the durability.
import { closeSync, mkdirSync, openSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';
import { NoStoreError, StoreError } from '../../domain/store-unavailable.ts';
import type { StoreCreation } from '../../ports/store.ts';
import { assertOurs, createTables, isEmpty } from './schema.ts';
import type { Sql } from './sql.ts';
import { databaseFaultOf, fileAt, IN_MEMORY, storeFault, storeName } from './store-fault.ts';

export type Durability = 'full' | 'normal';

/** The first release in which resetting the WAL can no longer corrupt the file. */
const VERSION_MIN: readonly number[] = [3, 51, 3];
/** Several workers start at once and one of them creates the tables, so opening waits longer than serving. */
const OPEN_PATIENCE_MS = 5000;
const OPEN_RETRY_MS = 10;
/** Larger files are not checked completely, because every start and every command would have to wait. */
const CHECKED_BYTES_MAX = 16 * 1024 * 1024;
const CACHE_KIB = 16 * 1024;
/** The size to which the WAL is truncated after a burst. */
const WAL_BYTES_MAX = 64 * 1024 * 1024;

interface DatabaseOpening extends StoreCreation {
  /** For tools that look for faults: skips the `quick_check`. */
  readonly anyFaults?: boolean;
}

/** Rejects with a `StoreError` if the file cannot serve as a store. */
export async function openDatabase(path: string, durability: Durability, creation: DatabaseOpening = {}): Promise<DatabaseSync> {
  const startedAtMs = performance.now();
  for (;;) {
    try {
      return openOnce(path, durability, creation);
    } catch (error) {
      if (error instanceof StoreError) throw error;
      const fault = databaseFaultOf(error);
      if (fault !== 'busy' || performance.now() - startedAtMs > OPEN_PATIENCE_MS) throw storeFault(path, fault ?? 'cannot_open', error);
    }
    await delay(OPEN_RETRY_MS);
  }
}

function openOnce(path: string, durability: Durability, creation: DatabaseOpening): DatabaseSync {
  const { mayCreate = true, onCreated, anyFaults = false } = creation;
  // An absolute path is never taken for a URI, and an empty one never for a temporary file.
  const location = path === IN_MEMORY ? path : prepareFile(path, mayCreate);
  // No waiting in the driver, which would block the event loop: an operation that finds the file busy is retried in a later
  // turn.
  const database = new DatabaseSync(location, { timeout: 0, enableForeignKeyConstraints: false });
  try {
    assertVersion(database);
    assertOurs(database, storeName(path));
    // The file may exist but be empty, because another program or a volume created it.
    if (!mayCreate && isEmpty(database)) throw new NoStoreError(placeOf(path, location));
    setPragmas(database, path, durability);
    if (!anyFaults && path !== IN_MEMORY && statSync(location).size <= CHECKED_BYTES_MAX) assertWhole(database, path);
    if (createTables(database) && path !== IN_MEMORY) onCreated?.(placeOf(path, location));
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/**
 * Opens the file exclusively: nobody else has it open or can open it until it is closed. Throws a `StoreError` if somebody has.
 * In WAL mode, every connection holds a shared lock on the file for as long as it is open.
 */
export function openAlone(path: string, { mayCreate }: { readonly mayCreate: boolean }): DatabaseSync {
  const location = prepareFile(path, mayCreate);
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(location, { timeout: 0 });
    // Set before the first access, so that the exclusive lock is taken on the file itself.
    database.exec('PRAGMA locking_mode = EXCLUSIVE');
    database.exec('BEGIN EXCLUSIVE; COMMIT');
    return database;
  } catch (error) {
    database?.close();
    const fault = databaseFaultOf(error) ?? 'cannot_open';
    throw fault === 'busy'
      ? new StoreError(`${storeName(path)} is in use: another process has it open; stop the gateways that use it, and try again`)
      : storeFault(path, fault, error);
  }
}

function prepareFile(path: string, mayCreate: boolean): string {
  if (path === '' || path.includes('\0')) throw new StoreError('sqlite: needs the path of a file, as in sqlite:data/lingate.db.');
  const location = resolve(path);
  if (!mayCreate && fileAt(path) === undefined) throw new NoStoreError(placeOf(path, location));
  try {
    mkdirSync(dirname(location), { recursive: true, mode: 0o700 });
    // Only for a new file: closing a descriptor of an open database would drop this process's locks on it (POSIX).
    closeSync(openSync(location, 'wx', 0o600));
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw storeFault(path, 'cannot_open', error);
  }
  if (fileAt(path)?.isFile() === false) {
    throw new StoreError(`${storeName(path)} is not a file; name a file, in a directory that this user may write to.`);
  }
  return location;
}

/** Includes the absolute path, in case the user is not in the folder they believe. */
function placeOf(path: string, location: string): string {
  return path === location ? storeName(path) : `${storeName(path)} (${storeName(location).slice('sqlite:'.length)})`;
}

function assertVersion(database: DatabaseSync): void {
  const version = String(database.prepare('SELECT sqlite_version() AS version').get()?.['version']);
  const parts = version.split('.').map(Number);
  const difference = VERSION_MIN.map((least, index) => (parts[index] ?? 0) - least).find((part) => part !== 0) ?? 0;
  if (difference >= 0) return;
  throw new StoreError(
    `This Node.js includes SQLite ${version}, which can lose data; use one with SQLite ${VERSION_MIN.join('.')} or newer.`,
  );
}

function setPragmas(database: DatabaseSync, path: string, durability: Durability): void {
  const mode = String(database.prepare('PRAGMA journal_mode = WAL').get()?.['journal_mode']);
  if (mode !== 'wal' && path !== IN_MEMORY) {
    throw new StoreError(
      `${storeName(path)} is on a file system without shared memory (it stays in journal mode ${mode}); use a local disk.`,
    );
  }
  database.exec(`
    PRAGMA synchronous = ${durability === 'full' ? 'FULL' : 'NORMAL'};
    PRAGMA trusted_schema = OFF;
    PRAGMA secure_delete = FAST;
    PRAGMA temp_store = MEMORY;
    PRAGMA cache_size = -${CACHE_KIB};
    PRAGMA journal_size_limit = ${WAL_BYTES_MAX};
  `);
}

/**
 * Overwrites in the file what `work` deletes. Otherwise deleted content is only overwritten if that costs no extra page
 * (`FAST`): pages that are freed completely keep their content until they are reused.
 */
export function securely<T>({ database }: Sql, work: () => T): T {
  database.exec('PRAGMA secure_delete = ON');
  try {
    return work();
  } finally {
    database.exec('PRAGMA secure_delete = FAST');
  }
}

function assertWhole(database: DatabaseSync, path: string): void {
  const result = database.prepare('PRAGMA quick_check(1)').get()?.['quick_check'];
  if (result !== 'ok') throw storeFault(path, 'corrupt');
}
