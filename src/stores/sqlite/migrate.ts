// Migrates a file to this version's schema: all steps in one transaction, never backwards, and only after a copy was made.
import type { DatabaseSync } from 'node:sqlite';
import { HALF_WRITTEN_SCHEMA, halfWritten, StoreError } from '../../domain/store-unavailable.ts';
import type { StoreMigration } from '../../ports/store.ts';
import { APPLICATION_ID, OLDEST_SCHEMA } from './schema-first.ts';
import { MIGRATIONS, SCHEMA } from './schema-steps.ts';
import type { SchemaStep } from './schema-steps.ts';
import { missingNumbers, strangeNumbers } from './sqlite-schema.ts';

/** Throws a `StoreError` for a database of another program, of a newer Lingate, or one that is incomplete. Writes nothing. */
export function assertOurs(database: DatabaseSync, storeName: string): void {
  const tables = numberOf(database, 'SELECT count(*) FROM sqlite_schema');
  if (tables > 0 && numberOf(database, 'PRAGMA application_id') !== APPLICATION_ID) {
    throw new StoreError(`${storeName} is the database of another program; name another file.`);
  }
  const version = versionOf(database);
  if (version === HALF_WRITTEN_SCHEMA) throw halfWritten(storeName);
  assertKnown(version, storeName);
  const strange = version === SCHEMA ? strangeNumbers(database) : [];
  if (strange.length > 0) {
    throw new StoreError(
      `${storeName} was written by a newer Lingate (its teams have limits that this one does not know: ${strange.join(', ')}); run that version, or restore a backup.`,
    );
  }
}

/** Whether nobody has written to it. */
export function isEmpty(database: DatabaseSync): boolean {
  return versionOf(database) === 0 && numberOf(database, 'SELECT count(*) FROM sqlite_schema') === 0;
}

/** Whether an older version wrote it, so that `migrate` would change it. */
export function isOutdated(database: DatabaseSync): boolean {
  const version = versionOf(database);
  return version > 0 && (version < SCHEMA || missingNumbers(database).length > 0);
}

/** For programs that may not migrate: throws a `StoreError` that names those that may. */
export function assertCurrent(database: DatabaseSync, storeName: string): void {
  if (!isOutdated(database)) return;
  throw new StoreError(
    `${storeName} was written by an older Lingate (schema ${versionOf(database)}, this one has ${SCHEMA}): run "lingate store migrate" or "lingate serve", which copy it before they change it.`,
  );
}

interface MigrateOptions {
  readonly steps?: readonly SchemaStep[];
  /** Makes the copy that a file with data gets first, and returns its name. If it throws, the migration does not begin. */
  readonly copy?: (to: number) => string;
}

/**
 * Safe to run in several processes concurrently: the work to do is determined again under the lock. Returns what was done, or
 * `undefined` if nothing was. `from` is 0 for a file that was empty.
 */
export function migrate(
  database: DatabaseSync,
  storeName: string,
  { steps = MIGRATIONS, copy }: MigrateOptions = {},
): StoreMigration | undefined {
  const to = OLDEST_SCHEMA + steps.length - 1;
  const isDue = (): boolean => versionOf(database) < to || (steps === MIGRATIONS && missingNumbers(database).length > 0);
  if (!isDue()) return undefined;
  return locked(database, () => {
    if (!isDue()) return undefined;
    const from = versionOf(database);
    assertKnown(from, storeName, to);
    const copied = from === 0 ? undefined : copy?.(to);
    for (const step of steps.slice(from === 0 ? 0 : from - OLDEST_SCHEMA + 1)) {
      if (typeof step === 'string') database.exec(step);
      else step(database);
    }
    if (steps === MIGRATIONS) for (const statement of missingNumbers(database)) database.exec(statement);
    database.exec(`PRAGMA user_version = ${to}`);
    return { from, to, copy: copied };
  });
}

function locked<T>(database: DatabaseSync, work: () => T): T {
  database.exec('BEGIN IMMEDIATE');
  try {
    const result = work();
    database.exec('COMMIT');
    return result;
  } catch (error) {
    if (database.isTransaction) database.exec('ROLLBACK');
    throw error;
  }
}

function assertKnown(version: number, storeName: string, newest = SCHEMA): void {
  if (version > 0 && version < OLDEST_SCHEMA) {
    throw new StoreError(
      `${storeName} was written by a Lingate too old for this one (schema ${version}, the oldest that is read is ${OLDEST_SCHEMA}): migrate it with a version in between first.`,
    );
  }
  if (version <= newest) return;
  throw new StoreError(
    `${storeName} was written by a newer Lingate (schema ${version}, this one knows ${newest}); run that version, or restore a backup.`,
  );
}

export function versionOf(database: DatabaseSync): number {
  return numberOf(database, 'PRAGMA user_version');
}

/** The only value of the first row. */
export function numberOf(database: DatabaseSync, query: string): number {
  return Number(Object.values(database.prepare(query).get() ?? {})[0]);
}
