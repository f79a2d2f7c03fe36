// The schema of the oldest supported files; schema-steps.ts migrates them to this version's.

/** Marks the file as Lingate's ("LGAT"), so that another program's database is never migrated. */
export const APPLICATION_ID = 0x4c474154;

/** Amounts are limited to JavaScript's safe integers. */
export const WHOLE = 'BETWEEN 0 AND 9007199254740991';

/**
 * Rows refer to each other by small numbers (`no`), which also give the order of creation. The two tables written by every
 * admission have no foreign keys, which would cost a lookup per row: a team's own row is deleted after everything that belongs
 * to it (team-erasure.ts), so that a later team with the same number inherits nothing. Nor do their constraints list values:
 * SQLite evaluates a list of three with a temporary table, rebuilt for every row written, which was a quarter of the ledger's
 * cost.
 */
export const FIRST = `
PRAGMA application_id = ${APPLICATION_ID};
CREATE TABLE teams (
  no INTEGER PRIMARY KEY,
  team_id TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  created_at_ms INTEGER NOT NULL,
  plan TEXT NOT NULL,
  billing TEXT NOT NULL CHECK (billing IN ('quota', 'credit')),
  requests_per_second INTEGER NOT NULL CHECK (requests_per_second BETWEEN 1 AND 9007199254740991),
  max_characters_per_request INTEGER NOT NULL CHECK (max_characters_per_request ${WHOLE}),
  max_glossaries INTEGER NOT NULL CHECK (max_glossaries ${WHOLE}),
  character_limit INTEGER NOT NULL CHECK (character_limit ${WHOLE}),
  overage_characters INTEGER NOT NULL CHECK (overage_characters ${WHOLE}),
  overage_cap_minor INTEGER NOT NULL CHECK (overage_cap_minor ${WHOLE}),
  minor_per_million INTEGER NOT NULL CHECK (minor_per_million ${WHOLE}),
  currency TEXT NOT NULL,
  period TEXT NOT NULL
) STRICT;

-- The part of a team that operations change. Narrow, so that many teams share a page: a transaction writes whole pages.
CREATE TABLE books (
  team INTEGER PRIMARY KEY,
  balance_micro INTEGER NOT NULL CHECK (balance_micro ${WHOLE}),
  held_micro INTEGER NOT NULL DEFAULT 0 CHECK (held_micro BETWEEN 0 AND balance_micro),
  -- The current period, by its number in periods; its end is copied here for the admission.
  period_no INTEGER NOT NULL DEFAULT 0 CHECK (period_no >= 0),
  period_end_ms INTEGER NOT NULL DEFAULT 0,
  used_characters INTEGER NOT NULL DEFAULT 0 CHECK (used_characters ${WHOLE}),
  held_characters INTEGER NOT NULL DEFAULT 0 CHECK (held_characters ${WHOLE}),
  -- The slots taken in the last second: counts by millisecond, oldest first, and the time of the newest.
  window_newest_ms INTEGER NOT NULL DEFAULT 0,
  window BLOB NOT NULL DEFAULT x'' CHECK (length(window) <= 16384),
  FOREIGN KEY (team, period_no) REFERENCES periods (team, no) DEFERRABLE INITIALLY DEFERRED
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
  revoked_at_ms INTEGER
) STRICT;
CREATE INDEX keys_by_team ON keys (team);

-- The part of a key that operations change. Counts are of the period it was last charged in; usage has the earlier ones.
CREATE TABLE key_books (
  team INTEGER NOT NULL,
  key INTEGER NOT NULL REFERENCES keys (no),
  last_used_at_ms INTEGER NOT NULL DEFAULT 0,
  period_no INTEGER NOT NULL DEFAULT 0 CHECK (period_no >= 0),
  characters INTEGER NOT NULL DEFAULT 0 CHECK (characters ${WHOLE}),
  requests INTEGER NOT NULL DEFAULT 0 CHECK (requests ${WHOLE}),
  PRIMARY KEY (team, key)
) STRICT, WITHOUT ROWID;

-- A team's periods, starting at number 1. Lengths may change, so that a start alone does not identify a period.
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
  characters INTEGER NOT NULL CHECK (characters ${WHOLE}),
  requests INTEGER NOT NULL CHECK (requests BETWEEN 1 AND 9007199254740991),
  PRIMARY KEY (team, period_no, key),
  FOREIGN KEY (team, period_no) REFERENCES periods (team, no)
) STRICT, WITHOUT ROWID;

-- Request ids. Ordered by id first: ids grow with time, so that concurrent writes of all teams fall on the same few pages, and
-- clearing starts at the beginning without an index.
CREATE TABLE operations (
  request_id TEXT NOT NULL,
  team INTEGER NOT NULL,
  -- 0 open, 1 committed, 2 released, 3 expired.
  state INTEGER NOT NULL CHECK (state BETWEEN 0 AND 3),
  -- Open: the end of the lease. Otherwise: when the id is forgotten.
  until_ms INTEGER NOT NULL,
  key INTEGER,
  characters INTEGER NOT NULL CHECK (characters ${WHOLE}),
  price_micro INTEGER NOT NULL CHECK (price_micro ${WHOLE}),
  period_no INTEGER,
  PRIMARY KEY (request_id, team),
  CHECK (state = 2 OR (key IS NOT NULL AND period_no IS NOT NULL))
) STRICT, WITHOUT ROWID;
CREATE INDEX open_leases ON operations (team, until_ms) WHERE state = 0;

CREATE TABLE glossaries (
  no INTEGER PRIMARY KEY,
  glossary_id TEXT NOT NULL UNIQUE,
  team INTEGER NOT NULL REFERENCES teams (no),
  name TEXT NOT NULL,
  created_at_ms INTEGER NOT NULL,
  revision INTEGER NOT NULL DEFAULT 1 CHECK (revision >= 1)
) STRICT;
CREATE INDEX glossaries_by_team ON glossaries (team);

CREATE TABLE dictionaries (
  no INTEGER PRIMARY KEY,
  dictionary_id TEXT NOT NULL UNIQUE,
  glossary INTEGER NOT NULL REFERENCES glossaries (no),
  -- Display order within the glossary.
  place INTEGER NOT NULL CHECK (place >= 0),
  source_lang TEXT NOT NULL,
  target_lang TEXT NOT NULL,
  entry_count INTEGER NOT NULL CHECK (entry_count >= 1),
  -- Last, so that reading only the columns before it does not touch its overflow pages.
  entries TEXT NOT NULL CHECK (json_valid(entries)),
  UNIQUE (glossary, source_lang, target_lang)
) STRICT;
`;

/** The version (`PRAGMA user_version`) of a file with that schema. Earlier ones were never released. */
export const OLDEST_SCHEMA = 4;
