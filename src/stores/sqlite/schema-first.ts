// The schema of the oldest files that are read; schema-steps.ts brings them up to this version's.

/** Marks the file as Lingate's ("LGAT"), so that no other program's database is ever migrated. */
export const APPLICATION_ID = 0x4c474154;

/** Amounts end where JavaScript's whole numbers do. */
export const WHOLE = 'BETWEEN 0 AND 9007199254740991';

/**
 * Rows refer to each other by small numbers (`no`), which also are the order of creation.
 * The two tables written by every admission carry no foreign keys, which would
 * cost a look-up per row: a team's row is deleted last of all that it has (team-erasure.ts), so that no row is left for whoever is
 * given its number next. Nor do their rules list values: SQLite judges a list of three by a table of its own, made anew for every row
 * that is written, which was a quarter of what the whole ledger cost.
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

-- What operations change of a team. Narrow, so that many teams share a page: a transaction writes whole pages.
CREATE TABLE books (
  team INTEGER PRIMARY KEY,
  balance_micro INTEGER NOT NULL CHECK (balance_micro ${WHOLE}),
  held_micro INTEGER NOT NULL DEFAULT 0 CHECK (held_micro BETWEEN 0 AND balance_micro),
  -- The period that counts now; the one with this number in periods, whose end is copied for the admission to compare.
  period_no INTEGER NOT NULL DEFAULT 0 CHECK (period_no >= 0),
  period_end_ms INTEGER NOT NULL DEFAULT 0,
  used_characters INTEGER NOT NULL DEFAULT 0 CHECK (used_characters ${WHOLE}),
  held_characters INTEGER NOT NULL DEFAULT 0 CHECK (held_characters ${WHOLE}),
  -- The places of the last second: counts by millisecond, oldest first, and when the newest was taken.
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

-- What operations change of a key. Counts are of the period that it was last charged in; usage keeps the earlier ones.
CREATE TABLE key_books (
  team INTEGER NOT NULL,
  key INTEGER NOT NULL REFERENCES keys (no),
  last_used_at_ms INTEGER NOT NULL DEFAULT 0,
  period_no INTEGER NOT NULL DEFAULT 0 CHECK (period_no >= 0),
  characters INTEGER NOT NULL DEFAULT 0 CHECK (characters ${WHOLE}),
  requests INTEGER NOT NULL DEFAULT 0 CHECK (requests ${WHOLE}),
  PRIMARY KEY (team, key)
) STRICT, WITHOUT ROWID;

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
  characters INTEGER NOT NULL CHECK (characters ${WHOLE}),
  requests INTEGER NOT NULL CHECK (requests BETWEEN 1 AND 9007199254740991),
  PRIMARY KEY (team, period_no, key),
  FOREIGN KEY (team, period_no) REFERENCES periods (team, no)
) STRICT, WITHOUT ROWID;

-- Ids of requests. Ordered by id first: ids grow with time, so that what all teams write in a moment lies on the same few pages, a
-- transaction writes few, and clearing begins in front without an index.
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
  -- In the order in which a glossary's are told.
  place INTEGER NOT NULL CHECK (place >= 0),
  source_lang TEXT NOT NULL,
  target_lang TEXT NOT NULL,
  entry_count INTEGER NOT NULL CHECK (entry_count >= 1),
  -- Last: whoever reads only what stands before it never touches the pages that it fills.
  entries TEXT NOT NULL CHECK (json_valid(entries)),
  UNIQUE (glossary, source_lang, target_lang)
) STRICT;
`;

/** The version (`PRAGMA user_version`) of a file with that. Those before it were never in a version that anybody has used. */
export const OLDEST_SCHEMA = 4;
