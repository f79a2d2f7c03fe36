// The schema of a file: its tables, and the refusal of a file that has another one. Nothing is migrated.
import type { DatabaseSync } from 'node:sqlite';
import { StoreError } from '../../domain/store-unavailable.ts';

/** Marks the file as Lingate's ("LGAT"), so that another program's database is never written to. */
const APPLICATION_ID = 0x4c474154;
/** `PRAGMA user_version` of a file with these tables. */
export const SCHEMA = 37;

/** States of a team's deletion: from the first on it does not exist; the last is a team of which only the usage is left. */
export const NOT_ERASED = 0;
export const ERASING = 1;
export const ERASING_BUT_USAGE = 2;
export const ONLY_USAGE_LEFT = 3;
/** In `records`: those of no team. */
export const SHARED = 0;

const WHOLE = 'BETWEEN 0 AND 9007199254740991';

/**
 * Rows refer to each other by small numbers (`no`), which give the order of creation. What every admission writes (`accounts`,
 * `key_accounts`, `operations`) is narrow, has no foreign keys and no constraints that list values: a transaction writes whole
 * pages, and each lookup or list costs as much as the row.
 */
const TABLES = `
PRAGMA application_id = ${APPLICATION_ID};
CREATE TABLE teams (
  no INTEGER PRIMARY KEY, team_id TEXT NOT NULL UNIQUE,
  -- The team as ports have it, but for its balance.
  record TEXT NOT NULL CHECK (json_valid(record)),
  name TEXT NOT NULL AS (record ->> 'name') STORED, reference TEXT AS (record ->> 'reference') STORED,
  -- The one that runs.
  period TEXT CHECK (json_valid(period)),
  erasure INTEGER NOT NULL DEFAULT 0,
  -- The balance before the first period that is left.
  opening_micro INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX unfinished_erasures ON teams (no) WHERE erasure BETWEEN 1 AND 2;
CREATE INDEX teams_by_end ON teams (period ->> 'endMs');
-- Those that have ended.
CREATE TABLE periods (
  team INTEGER, number INTEGER, ended TEXT NOT NULL CHECK (json_valid(ended)), PRIMARY KEY (team, number)
) STRICT, WITHOUT ROWID;
CREATE TABLE accounts (
  team INTEGER PRIMARY KEY, balance_micro INTEGER NOT NULL CHECK (balance_micro ${WHOLE}),
  -- In the period that runs.
  used_characters INTEGER NOT NULL CHECK (used_characters ${WHOLE}), allowance_used INTEGER NOT NULL CHECK (allowance_used ${WHOLE}),
  window_newest_ms INTEGER NOT NULL, window BLOB NOT NULL
) STRICT;
CREATE TABLE keys (
  no INTEGER PRIMARY KEY, key_id TEXT NOT NULL UNIQUE, team INTEGER NOT NULL, digest TEXT UNIQUE,
  -- The key as ports have it; its status ignores expiry.
  record TEXT NOT NULL CHECK (json_valid(record))
) STRICT;
CREATE INDEX keys_of_team ON keys (team);
CREATE TABLE key_accounts (
  team INTEGER, key INTEGER, last_used_at_ms INTEGER NOT NULL, window_newest_ms INTEGER NOT NULL, window BLOB NOT NULL,
  PRIMARY KEY (team, key)
) STRICT, WITHOUT ROWID;
-- What was charged: all that is shown or invoiced is a sum of these.
CREATE TABLE usage (
  team INTEGER, key INTEGER, period_no INTEGER, day INTEGER, characters INTEGER NOT NULL CHECK (characters ${WHOLE}),
  requests INTEGER NOT NULL CHECK (requests ${WHOLE}), micro INTEGER NOT NULL CHECK (micro ${WHOLE}),
  of_allowance INTEGER NOT NULL CHECK (of_allowance ${WHOLE}), PRIMARY KEY (team, key, period_no, day)
) STRICT, WITHOUT ROWID;
-- Open reservations, until they are settled or the lease ends. By id first: ids grow with time, so that all teams write to the same
-- few pages.
CREATE TABLE operations (
  request_id TEXT, team INTEGER, until_ms INTEGER NOT NULL, key INTEGER NOT NULL,
  characters INTEGER NOT NULL CHECK (characters ${WHOLE}), price_micro INTEGER NOT NULL CHECK (price_micro ${WHOLE}),
  period_no INTEGER NOT NULL, of_allowance INTEGER NOT NULL, tickets TEXT, tag TEXT, PRIMARY KEY (request_id, team)
) STRICT, WITHOUT ROWID;
CREATE INDEX open_leases ON operations (team, until_ms);
-- Those of the record space; and of each team, as JSON, 'changes' that are remembered, by id, and 'windows', what subjects have used
-- of their limits by minute to month.
CREATE TABLE records (
  team INTEGER, kind TEXT, id TEXT, value TEXT NOT NULL, PRIMARY KEY (team, kind, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX records_by_id ON records (kind, id) WHERE kind IN ('glossaries', 'documents');
-- Deleted in pieces from gone_ms on: set while a blob is being written, and once it is dropped.
CREATE TABLE blobs (
  team INTEGER, id TEXT, piece_count INTEGER NOT NULL, gone_ms INTEGER, PRIMARY KEY (team, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX blobs_by_end ON blobs (gone_ms) WHERE gone_ms IS NOT NULL;
CREATE TABLE pieces (
  no INTEGER PRIMARY KEY, team INTEGER NOT NULL, blob TEXT NOT NULL, place INTEGER NOT NULL, piece BLOB NOT NULL, UNIQUE (team, blob, place)
) STRICT;
PRAGMA user_version = ${SCHEMA};
`;

/** Whether nobody has written to it. */
export function isEmpty(database: DatabaseSync): boolean {
  return versionOf(database) === 0 && numberOf(database, 'SELECT count(*) FROM sqlite_schema') === 0;
}

/** Throws a `StoreError` for a file of another program, of another schema, or one that is incomplete. Writes nothing. */
export function assertOurs(database: DatabaseSync, storeName: string): void {
  if (isEmpty(database)) return;
  if (numberOf(database, 'PRAGMA application_id') !== APPLICATION_ID)
    throw new StoreError(`${storeName} is the database of another program; name another file.`);
  const version = versionOf(database);
  if (version === SCHEMA) return;
  throw new StoreError(
    `${storeName} was written by another version of Lingate (schema ${version}, this one has ${SCHEMA}); run that version, or name another file.`,
  );
}

/** Creates the tables in an empty file, in one process of several that try. Returns whether it did. */
export function createTables(database: DatabaseSync): boolean {
  if (!isEmpty(database)) return false;
  database.exec('BEGIN IMMEDIATE');
  try {
    const isFirst = isEmpty(database);
    if (isFirst) database.exec(TABLES);
    database.exec('COMMIT');
    return isFirst;
  } catch (error) {
    if (database.isTransaction) database.exec('ROLLBACK');
    throw error;
  }
}

export function versionOf(database: DatabaseSync): number {
  return numberOf(database, 'PRAGMA user_version');
}

/** The only value of the first row. */
export function numberOf(database: DatabaseSync, query: string): number {
  return Number(Object.values(database.prepare(query).get() ?? {})[0]);
}
