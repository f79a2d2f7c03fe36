// Brings a file to this version's schema: numbered steps, each in a transaction of its own, never backwards.
import type { DatabaseSync } from 'node:sqlite';
import { StoreError } from '../../domain/store-unavailable.ts';
import { APPLICATION_ID, MIGRATIONS, missingNumbers, strangeNumbers } from './sqlite-schema.ts';
import type { SchemaStep } from './sqlite-schema.ts';

/** Throws a `StoreError` for a database of another program or of a newer Lingate. Writes nothing. */
export function assertOurs(database: DatabaseSync, storeName: string): void {
  const tables = numberOf(database, 'SELECT count(*) FROM sqlite_schema');
  if (tables > 0 && numberOf(database, 'PRAGMA application_id') !== APPLICATION_ID) {
    throw new StoreError(`${storeName} is the database of another program; name another file.`);
  }
  const version = versionOf(database);
  assertKnown(version, storeName);
  const strange = version === MIGRATIONS.length ? strangeNumbers(database) : [];
  if (strange.length > 0) {
    throw new StoreError(
      `${storeName} was written by a newer Lingate (its teams are held to ${strange.join(', ')}, unknown to this one); run that version, or restore a backup.`,
    );
  }
}

/** Nobody has written into it. */
export function isEmpty(database: DatabaseSync): boolean {
  return versionOf(database) === 0 && numberOf(database, 'SELECT count(*) FROM sqlite_schema') === 0;
}

/** Safe to run in several processes at once: the version is read again under the lock. Returns whether this one began from nothing. */
export function migrate(database: DatabaseSync, storeName: string, steps: readonly SchemaStep[] = MIGRATIONS): boolean {
  let made = false;
  while (versionOf(database) < steps.length) {
    locked(database, () => {
      const version = versionOf(database);
      const step = steps[version];
      if (step === undefined) return assertKnown(version, storeName, steps.length);
      if (typeof step === 'string') database.exec(step);
      else step(database);
      database.exec(`PRAGMA user_version = ${version + 1}`);
      made ||= version === 0;
    });
  }
  return made;
}

/** Gives a migrated file the columns of the plan's numbers that are newer than it; as safe. */
export function addNumbers(database: DatabaseSync, columns?: readonly string[]): void {
  if (missingNumbers(database, columns).length === 0) return;
  locked(database, () => {
    for (const statement of missingNumbers(database, columns)) database.exec(statement);
  });
}

function locked(database: DatabaseSync, work: () => void): void {
  database.exec('BEGIN IMMEDIATE');
  try {
    work();
    database.exec('COMMIT');
  } catch (error) {
    if (database.isTransaction) database.exec('ROLLBACK');
    throw error;
  }
}

function assertKnown(version: number, storeName: string, newest = MIGRATIONS.length): void {
  if (version <= newest) return;
  throw new StoreError(
    `${storeName} was written by a newer Lingate (schema ${version}, this one knows ${newest}); run that version, or restore a backup.`,
  );
}

function versionOf(database: DatabaseSync): number {
  return numberOf(database, 'PRAGMA user_version');
}

function numberOf(database: DatabaseSync, query: string): number {
  return Number(Object.values(database.prepare(query).get() ?? {})[0]);
}
