// The backup of a database file: a copy in one snapshot, looked over before it counts as one.
import { rmSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { StoreError } from '../../domain/store-unavailable.ts';
import { writeCopy } from './file-copy.ts';
import { assertOurs, isEmpty } from './migrate.ts';
import { databaseFaultOf, storeFault, storeName } from './store-fault.ts';

/** Writes the database at `path` into `file`, which must not exist, and returns its bytes. Also one of an older version. */
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
