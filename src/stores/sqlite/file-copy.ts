// Copies a database file completely or not at all: while others use it, flushed to disk, never overwriting another file.
import { closeSync, existsSync, fsyncSync, linkSync, openSync, rmSync, statfsSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { StoreError } from '../../domain/store-unavailable.ts';
import { assertOurs, isEmpty, numberOf } from './schema.ts';
import { databaseFaultOf, storeFault, storeName } from './store-fault.ts';

/**
 * Writes a snapshot of the database at `location` to `file`, and returns its size in bytes. Reads from a single snapshot, so
 * that it neither waits for writers nor blocks them. Throws a `StoreError`, and then leaves no such file.
 */
export function writeCopy(location: string, file: string): number {
  const directory = dirname(file);
  if (existsSync(file)) throw new StoreError(`${shown(file)} exists already and is left as it is: name a file that does not exist.`);
  if (statSync(directory, { throwIfNoEntry: false })?.isDirectory() !== true)
    throw new StoreError(`there is no directory ${shown(directory)}: make it, or name a file in another one.`);
  // A fixed name, so that the next attempt replaces what a killed process left.
  const part = join(directory, `.${basename(file)}.part`);
  try {
    rmSync(part, { force: true });
    closeSync(openSync(part, 'wx', 0o600));
    vacuumInto(location, part);
    flush(part, 'r+');
    // Fails instead of replacing a file that was created meanwhile.
    linkSync(part, file);
    rmSync(part);
    flush(directory, 'r');
    return statSync(file).size;
  } catch (error) {
    rmSync(part, { force: true });
    rmSync(`${part}-journal`, { force: true });
    throw error instanceof StoreError
      ? error
      : new StoreError(
          `the copy ${shown(file)} could not be written (${reasonOf(error)}): ${ADVICE[reasonOf(error)] ?? 'name a file in a directory that this user may write to.'}`,
        );
  }
}

/** Backs up the database at `path` to `file`, and verifies the backup. Returns its size in bytes. */
export async function backUp(path: string, file: string): Promise<number> {
  look(path, (database) => {
    assertOurs(database, storeName(path));
    if (isEmpty(database)) throw new StoreError(`${storeName(path)} is empty: there is nothing to back up.`);
  });
  const bytes = writeCopy(path, file);
  try {
    look(file, (database) => {
      if (database.prepare('PRAGMA integrity_check(1)').get()?.['integrity_check'] !== 'ok') throw storeFault(path, 'corrupt');
    });
  } catch (error) {
    rmSync(file, { force: true });
    throw error;
  }
  return bytes;
}

function look(path: string, at: (database: DatabaseSync) => void): void {
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(path, { timeout: 5000 });
    at(database);
  } catch (error) {
    throw error instanceof StoreError ? error : storeFault(path, databaseFaultOf(error) ?? 'cannot_open', error);
  } finally {
    database?.close();
  }
}

function vacuumInto(location: string, part: string): void {
  const database = new DatabaseSync(location, { timeout: 5000 });
  const pragma = (name: string): number => numberOf(database, `PRAGMA ${name}`);
  try {
    const [pages, free, size] = [pragma('page_count'), pragma('freelist_count'), pragma('page_size')];
    const needed = (pages - free) * size;
    const there = freeBytesIn(dirname(part));
    if (there < needed) {
      throw new StoreError(
        `${storeName(location)} needs ${megabytes(needed)} MB of room in ${shown(dirname(part))} to be copied, and ${megabytes(there)} MB are free: make room.`,
      );
    }
    database.prepare('VACUUM INTO ?').run(part);
  } finally {
    database.close();
  }
}

function freeBytesIn(directory: string): number {
  const { bavail, bsize } = statfsSync(directory);
  return bavail * bsize;
}

/** Flushes to disk: a copy is of no use if it does not survive a power cut. */
function flush(path: string, flags: 'r' | 'r+'): void {
  const descriptor = openSync(path, flags);
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

function megabytes(bytes: number): number {
  return Math.ceil(bytes / 1_000_000);
}

function reasonOf(error: unknown): string {
  if (error instanceof Error && 'code' in error && typeof error.code === 'string' && error.code !== 'ERR_SQLITE_ERROR') return error.code;
  return databaseFaultOf(error) ?? 'internal';
}

const MAKE_ROOM = 'make room on its disk.';
const DAMAGED = 'the database is damaged; restore it from a backup.';
const ADVICE: Readonly<Record<string, string>> = {
  full: MAKE_ROOM,
  ENOSPC: MAKE_ROOM,
  EDQUOT: MAKE_ROOM,
  EEXIST: 'name a file that does not exist.',
  corrupt: DAMAGED,
  not_a_database: DAMAGED,
};

/** As one line, whatever the name contains. */
function shown(path: string): string {
  return storeName(path).slice('sqlite:'.length);
}
