// Opens a database file to read, repair or write all of it: for the check, and both ends of a copy.
import type { DatabaseSync } from 'node:sqlite';
import { NoStoreError, StoreError } from '../../domain/store-unavailable.ts';
import type { Clock } from '../../ports/clock.ts';
import type { ReportFinding, StoreMender, StoreReader, StoreWriter } from '../../ports/store-contents.ts';
import { pluginMender, pluginReader, pluginWriter } from '../plugin-contents.ts';
import { openAlone, openDatabase } from './open-database.ts';
import { assertOurs, createTables, ERASING, ERASING_BUT_USAGE, isEmpty, numberOf } from './schema.ts';
import { wholeFile } from './sqlite-store.ts';
import type { WholeFile } from './sqlite-store.ts';
import { asStoreFault, storeName } from './store-fault.ts';

const INTERRUPTED = 'a deletion has been interrupted; repeat it, or start a gateway';
const FAULTS_MAX = 20;
/** Other processes may be serving from it. */
const PATIENCE_MS = 5000;

const SILENT = { info: () => undefined, warn: () => undefined, error: () => undefined };
const MACHINE: Clock = { nowMs: () => Date.now() };

/** Rejects with a `StoreError` if the file cannot be read as it is: nothing is created. */
export async function openSqliteReader(path: string): Promise<StoreReader> {
  const file = await openFile(path);
  return pluginReader(file, storeName(path), ownCheck(file));
}

export async function openSqliteMender(path: string): Promise<StoreMender> {
  return pluginMender(await openFile(path), storeName(path));
}

/** The same as a reader, with no other process having the file open or able to open it. */
export async function openSqliteSource(path: string): Promise<StoreReader> {
  const database = openAlone(path, { mayCreate: false });
  const file = closedOnError(database, path, () => {
    assertOurs(database, storeName(path));
    if (isEmpty(database)) throw new NoStoreError(storeName(path));
    if (numberOf(database, `SELECT count(*) FROM teams WHERE erasure IN (${ERASING}, ${ERASING_BUT_USAGE})`) > 0)
      throw new StoreError(`${storeName(path)} holds data that cannot be copied: ${INTERRUPTED}`);
    return asFile(database, path);
  });
  return pluginReader(file, storeName(path), ownCheck(file));
}

/** Rejects with a `StoreError` if the file is not empty or is in use, or if it is half-written and `restart` is not set. */
export async function openSqliteWriter(path: string, restart: boolean): Promise<StoreWriter> {
  const database = openAlone(path, { mayCreate: true });
  const file = closedOnError(database, path, () => {
    assertOurs(database, storeName(path));
    createTables(database);
    database.exec('PRAGMA synchronous = NORMAL');
    return asFile(database, path);
  });
  return pluginWriter(file, storeName(path), restart);
}

async function openFile(path: string): Promise<WholeFile> {
  const database = await openDatabase(path, 'full', { mayCreate: false, anyFaults: true });
  return closedOnError(database, path, () => asFile(database, path));
}

function asFile(database: DatabaseSync, path: string): WholeFile {
  return wholeFile(database, { path, log: SILENT, clock: MACHINE, busyTimeoutMs: PATIENCE_MS }, false);
}

/** SQLite's own check of a file. */
function ownCheck({ database }: WholeFile): (report: ReportFinding) => void {
  return (report) => {
    for (const row of database.prepare(`PRAGMA integrity_check(${FAULTS_MAX})`).all()) {
      const detail = String(row['integrity_check']).replace(/\s+/g, ' ');
      if (detail !== 'ok') report({ what: 'file', detail });
    }
  };
}

function closedOnError<T>(database: DatabaseSync, path: string, open: () => T): T {
  try {
    return open();
  } catch (error) {
    database.close();
    throw asStoreFault(path, error);
  }
}
