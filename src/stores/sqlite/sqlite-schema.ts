// The schema as a list of steps that only ever grows: a released step is never edited, a change is a new one behind it.
import type { DatabaseSync } from 'node:sqlite';
import { LIMIT_NUMBERS } from '../../domain/plan.ts';
import type { LimitNumber, TeamLimits } from '../../domain/plan.ts';
import { cutDictionaries, DICTIONARIES } from './schema-dictionaries.ts';
import { OPERATIONS } from './schema-operations.ts';
import { AUDIT, CHANGES, GATEWAYS } from './schema-operators.ts';
import { ERASURE } from './schema-erasure.ts';
import { KEY_LIMITS } from './schema-key-limits.ts';
import { HISTORY, PERIODS } from './schema-history.ts';
import { LEDGER_SHAPE, packPlaces } from './schema-ledger.ts';
import { OUTBOX } from './schema-outbox.ts';

/** Marks the file as Lingate's ("LGAT"), so that no other program's database is ever migrated. */
export const APPLICATION_ID = 0x4c474154;

/** How an id of a request stands; the numbers are in the files. */
export const OPEN = 0;
export const COMMITTED = 1;
export const RELEASED = 2;
export const EXPIRED = 3;

/** How far the deletion of a team is (schema-erasure.ts); the numbers are in the files. */
export const NOT_ERASED = 0;
export const ERASING = 1;
export const ERASING_BUT_USAGE = 2;
export const ONLY_USAGE_LEFT = 3;

/** A plan's numbers as columns of `teams`. Those that are newer than a file are added to it when it is opened. */
const NUMBERS = Object.fromEntries(LIMIT_NUMBERS.map((name) => [name, columnOf(name)])) as Readonly<Record<LimitNumber, string>>;

/** What a team is held to, as columns of `teams`. */
export const LIMITS: Readonly<Record<keyof TeamLimits, string>> = {
  billing: 'billing',
  ...NUMBERS,
  currency: 'currency',
  period: 'period',
};

/**
 * Rows refer to each other by small numbers (`no`), which also are the order of creation. Amounts end below 2^53, where
 * JavaScript's integers do. The two tables written by every admission carry no foreign keys, which would cost a look-up per row:
 * a team's row is deleted last of all that it has (team-erasure.ts), so that no row is left for whoever is given its number next.
 */
const FIRST = `
CREATE TABLE teams (
  no INTEGER PRIMARY KEY,
  team_id TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  created_at_ms INTEGER NOT NULL,
  plan TEXT NOT NULL,
  billing TEXT NOT NULL CHECK (billing IN ('quota', 'credit')),
  requests_per_second INTEGER NOT NULL CHECK (requests_per_second BETWEEN 1 AND 9007199254740991),
  max_characters_per_request INTEGER NOT NULL CHECK (max_characters_per_request BETWEEN 0 AND 9007199254740991),
  max_glossaries INTEGER NOT NULL CHECK (max_glossaries BETWEEN 0 AND 9007199254740991),
  character_limit INTEGER NOT NULL CHECK (character_limit BETWEEN 0 AND 9007199254740991),
  overage_characters INTEGER NOT NULL CHECK (overage_characters BETWEEN 0 AND 9007199254740991),
  overage_cap_minor INTEGER NOT NULL CHECK (overage_cap_minor BETWEEN 0 AND 9007199254740991),
  minor_per_million INTEGER NOT NULL CHECK (minor_per_million BETWEEN 0 AND 9007199254740991),
  currency TEXT NOT NULL,
  period TEXT NOT NULL,
  balance_micro INTEGER NOT NULL CHECK (balance_micro BETWEEN 0 AND 9007199254740991),
  held_micro INTEGER NOT NULL DEFAULT 0 CHECK (held_micro BETWEEN 0 AND balance_micro),
  -- The period that counts now; the one with this number in periods, whose end is copied for the admission to compare.
  period_no INTEGER NOT NULL DEFAULT 0 CHECK (period_no >= 0),
  period_end_ms INTEGER NOT NULL DEFAULT 0,
  used_characters INTEGER NOT NULL DEFAULT 0 CHECK (used_characters BETWEEN 0 AND 9007199254740991),
  held_characters INTEGER NOT NULL DEFAULT 0 CHECK (held_characters BETWEEN 0 AND 9007199254740991),
  -- The window: the number of the next place, and when the newest was taken.
  place_next INTEGER NOT NULL DEFAULT 0 CHECK (place_next >= 0),
  place_newest_ms INTEGER
) STRICT;

CREATE TABLE keys (
  no INTEGER PRIMARY KEY,
  key_id TEXT NOT NULL UNIQUE,
  team INTEGER NOT NULL REFERENCES teams (no),
  digest TEXT NOT NULL UNIQUE,
  display TEXT NOT NULL,
  label TEXT NOT NULL,
  mode TEXT NOT NULL CHECK (mode IN ('live', 'test')),
  created_at_ms INTEGER NOT NULL,
  last_used_at_ms INTEGER,
  revoked_at_ms INTEGER
) STRICT;
CREATE INDEX keys_by_team ON keys (team);

-- Periods that a team has had, the first is number 1. Lengths may change, so a start alone names none of them.
CREATE TABLE periods (
  team INTEGER NOT NULL REFERENCES teams (no),
  no INTEGER NOT NULL CHECK (no >= 1),
  start_ms INTEGER NOT NULL,
  end_ms INTEGER NOT NULL CHECK (end_ms > start_ms),
  PRIMARY KEY (team, no)
) STRICT, WITHOUT ROWID;

CREATE TABLE usage (
  team INTEGER NOT NULL,
  period_no INTEGER NOT NULL,
  key INTEGER NOT NULL REFERENCES keys (no),
  characters INTEGER NOT NULL CHECK (characters BETWEEN 0 AND 9007199254740991),
  requests INTEGER NOT NULL CHECK (requests BETWEEN 1 AND 9007199254740991),
  PRIMARY KEY (team, period_no, key),
  FOREIGN KEY (team, period_no) REFERENCES periods (team, no)
) STRICT, WITHOUT ROWID;

-- Taken places of the rate window. at_ms never falls as seq grows: the place that decides is found by its number.
CREATE TABLE places (
  team INTEGER NOT NULL,
  seq INTEGER NOT NULL CHECK (seq >= 0),
  at_ms INTEGER NOT NULL,
  PRIMARY KEY (team, seq)
) STRICT, WITHOUT ROWID;

-- Ids of requests. state: 0 open, 1 committed, 2 released, 3 expired. Ordered by id first: ids grow with time, so that
-- what all teams write in a moment lies on the same few pages, and a transaction writes few.
CREATE TABLE operations (
  request_id TEXT NOT NULL,
  team INTEGER NOT NULL,
  state INTEGER NOT NULL CHECK (state BETWEEN 0 AND 3),
  -- Open: the end of the lease. Otherwise: when the id is forgotten.
  until_ms INTEGER NOT NULL,
  key INTEGER,
  characters INTEGER NOT NULL CHECK (characters BETWEEN 0 AND 9007199254740991),
  price_micro INTEGER NOT NULL CHECK (price_micro BETWEEN 0 AND 9007199254740991),
  period_no INTEGER,
  PRIMARY KEY (request_id, team),
  CHECK (state NOT IN (0, 1, 3) OR (key IS NOT NULL AND period_no IS NOT NULL))
) STRICT, WITHOUT ROWID;
CREATE INDEX open_leases ON operations (team, until_ms) WHERE state = 0;
CREATE INDEX forgettable_ids ON operations (until_ms) WHERE state > 0;

CREATE TABLE glossaries (
  no INTEGER PRIMARY KEY,
  glossary_id TEXT NOT NULL UNIQUE,
  team INTEGER NOT NULL REFERENCES teams (no),
  name TEXT NOT NULL,
  source_lang TEXT NOT NULL,
  target_lang TEXT NOT NULL,
  entry_count INTEGER NOT NULL CHECK (entry_count >= 1),
  created_at_ms INTEGER NOT NULL,
  -- Last: whoever reads only what stands before it never touches the pages that it fills.
  entries TEXT NOT NULL CHECK (json_valid(entries))
) STRICT;
CREATE INDEX glossaries_by_team ON glossaries (team);
`;

/** SQL, or what SQL alone cannot do. */
export type SchemaStep = string | ((database: DatabaseSync) => void);

/** Step n brings a file from version n to n + 1 (`PRAGMA user_version`), in one transaction. */
export const MIGRATIONS: readonly SchemaStep[] = [
  `${FIRST} PRAGMA application_id = ${APPLICATION_ID};`,
  (database) => {
    database.exec(LEDGER_SHAPE.before);
    packPlaces(database);
    database.exec(LEDGER_SHAPE.after);
  },
  DICTIONARIES,
  OPERATIONS,
  PERIODS,
  cutDictionaries,
  CHANGES,
  GATEWAYS,
  HISTORY,
  ERASURE,
  OUTBOX,
  AUDIT,
  KEY_LIMITS,
];

/** Statements for the columns of a plan's numbers that a file's `teams` lacks: 0 for the teams that are there. */
export function missingNumbers(database: DatabaseSync, columns: readonly string[] = Object.values(NUMBERS)): string[] {
  const there = teamColumns(database);
  return columns
    .filter((column) => !there.includes(column))
    .map(
      (column) =>
        `ALTER TABLE teams ADD COLUMN ${column} INTEGER NOT NULL DEFAULT 0 CHECK (${column} BETWEEN 0 AND ${Number.MAX_SAFE_INTEGER})`,
    );
}

/** Columns of a migrated file's `teams` that this version would not hold a team to: a newer one has added them. */
export function strangeNumbers(database: DatabaseSync): string[] {
  const known = ['no', 'team_id', 'name', 'created_at_ms', 'plan', 'erasure', ...Object.values(LIMITS)];
  return teamColumns(database).filter((column) => !known.includes(column));
}

function teamColumns(database: DatabaseSync): string[] {
  const rows = database.prepare('PRAGMA table_info(teams)').all();
  return rows.map(({ name }) => String(name));
}

/** `requestsPerSecond` is `requests_per_second`. */
function columnOf(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
