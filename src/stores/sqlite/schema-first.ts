// The schema of the first release; schema-steps.ts has what later ones change.

/** Marks the file as Lingate's ("LGAT"), so that another program's database is never migrated. */
export const APPLICATION_ID = 0x4c474154;

/** Amounts are limited to JavaScript's safe integers. */
const WHOLE = 'BETWEEN 0 AND 9007199254740991';

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
  test_allowance INTEGER NOT NULL CHECK (test_allowance ${WHOLE}),
  currency TEXT NOT NULL,
  period TEXT NOT NULL,
  -- The limits by minute to month (domain/window-limits.ts); empty for none.
  windows TEXT NOT NULL DEFAULT '',
  -- 0 not deleted; 1 being deleted; 2 being deleted, but its usage is kept; 3 only its usage is left. From 1 on only the deletion
  -- and the history use the row.
  erasure INTEGER NOT NULL DEFAULT 0 CHECK (erasure BETWEEN 0 AND 3),
  -- The operator's word for the team.
  reference TEXT,
  -- The plan that the team gets when its period ends, with its limits by name, and who ordered that; null without one.
  next_plan TEXT,
  next_limits TEXT CHECK (json_valid(next_limits)),
  next_by TEXT CHECK (json_valid(next_by))
) STRICT;
-- A second team with the same name or reference is made with a warning.
CREATE INDEX teams_by_name ON teams (lower(name));
CREATE INDEX teams_by_reference ON teams (lower(reference));
CREATE INDEX unfinished_erasures ON teams (no) WHERE erasure BETWEEN 1 AND 2;

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
  -- Of both, what test keys use for nothing (the plan's test_allowance).
  allowance_used INTEGER NOT NULL DEFAULT 0 CHECK (allowance_used ${WHOLE}),
  allowance_held INTEGER NOT NULL DEFAULT 0 CHECK (allowance_held ${WHOLE}),
  -- The slots taken in the last second: counts by millisecond, oldest first, and the time of the newest.
  window_newest_ms INTEGER NOT NULL DEFAULT 0,
  window BLOB NOT NULL DEFAULT x'' CHECK (length(window) <= 16384),
  -- The current day of the team's keys; 0 for none.
  day INTEGER NOT NULL DEFAULT 0 CHECK (day >= 0),
  -- Counts the events of a team's changes, which may fall within one millisecond.
  event_serial INTEGER NOT NULL DEFAULT 0 CHECK (event_serial ${WHOLE}),
  FOREIGN KEY (team, period_no) REFERENCES periods (team, no) DEFERRABLE INITIALLY DEFERRED
) STRICT;
-- For the janitor: teams whose day or period has ended.
CREATE INDEX books_by_day ON books (day) WHERE day > 0;
CREATE INDEX books_by_period_end ON books (period_end_ms);

CREATE TABLE keys (
  no INTEGER PRIMARY KEY,
  key_id TEXT NOT NULL UNIQUE,
  team INTEGER NOT NULL REFERENCES teams (no),
  digest TEXT NOT NULL UNIQUE,
  display TEXT NOT NULL,
  label TEXT NOT NULL,
  mode TEXT NOT NULL CHECK (mode IN ('live', 'test')),
  created_at_ms INTEGER NOT NULL,
  revoked_at_ms INTEGER,
  -- Whether it has a row in key_limits, so that other keys are read without it.
  guarded INTEGER NOT NULL DEFAULT 0 CHECK (guarded BETWEEN 0 AND 1)
) STRICT;
CREATE INDEX keys_by_team ON keys (team);

-- Of keys that are limited or disabled.
CREATE TABLE key_limits (
  key INTEGER PRIMARY KEY REFERENCES keys (no),
  team INTEGER NOT NULL,
  disabled INTEGER NOT NULL CHECK (disabled BETWEEN 0 AND 1),
  -- Null if there is no such limit.
  expires_at_ms INTEGER,
  requests_per_second INTEGER CHECK (requests_per_second BETWEEN 1 AND 9007199254740991),
  characters INTEGER CHECK (characters BETWEEN 1 AND 9007199254740991),
  addresses TEXT CHECK (json_valid(addresses)),
  windows TEXT,
  scopes TEXT CHECK (json_valid(scopes)),
  -- What the key's open reservations hold in this period; only maintained while its characters are limited.
  held_period_no INTEGER NOT NULL DEFAULT 0 CHECK (held_period_no >= 0),
  held_characters INTEGER NOT NULL DEFAULT 0 CHECK (held_characters ${WHOLE}),
  -- As in books; empty unless its rate is limited.
  window_newest_ms INTEGER NOT NULL DEFAULT 0,
  window BLOB NOT NULL DEFAULT x'' CHECK (length(window) <= 16384)
) STRICT;
CREATE INDEX key_limits_by_team ON key_limits (team);

-- What a subject ('team', or 'key:' and a key's id) has used of its limits by minute to month (domain/window-counts.ts). Only of
-- subjects that have or had such limits; never deleted before the team, because reservations have tickets of it.
CREATE TABLE window_counts (
  team INTEGER NOT NULL,
  subject TEXT NOT NULL,
  counts TEXT NOT NULL CHECK (json_valid(counts)),
  PRIMARY KEY (team, subject)
) STRICT, WITHOUT ROWID;

-- The part of a key that operations change. Counts are of the period it was last charged in; usage has the earlier ones.
CREATE TABLE key_books (
  team INTEGER NOT NULL,
  key INTEGER NOT NULL REFERENCES keys (no),
  last_used_at_ms INTEGER NOT NULL DEFAULT 0,
  period_no INTEGER NOT NULL DEFAULT 0 CHECK (period_no >= 0),
  characters INTEGER NOT NULL DEFAULT 0 CHECK (characters ${WHOLE}),
  requests INTEGER NOT NULL DEFAULT 0 CHECK (requests ${WHOLE}),
  -- Of the current day. Written with the period's counts, so that they cost no extra row.
  day_characters INTEGER NOT NULL DEFAULT 0 CHECK (day_characters ${WHOLE}),
  day_requests INTEGER NOT NULL DEFAULT 0 CHECK (day_requests ${WHOLE}),
  PRIMARY KEY (team, key)
) STRICT, WITHOUT ROWID;
-- For each deleted key, SQLite searches this table and usage for rows that refer to it.
CREATE INDEX key_books_by_key ON key_books (key);

-- A team's periods, starting at number 1. Lengths may change, so that a start alone does not identify a period.
CREATE TABLE periods (
  team INTEGER NOT NULL REFERENCES teams (no),
  no INTEGER NOT NULL CHECK (no >= 1),
  start_ms INTEGER NOT NULL,
  end_ms INTEGER NOT NULL CHECK (end_ms > start_ms),
  -- From where periods are counted. Null for the team's creation; set since the length of its periods was changed.
  anchor_ms INTEGER,
  -- Null for the current period. Earlier than its end if a plan with another length ended it.
  left_ms INTEGER,
  -- The last plan that applied to it, and its limits by name.
  plan TEXT,
  limits TEXT CHECK (json_valid(limits)),
  -- The characters charged in it, once it is final.
  closed_characters INTEGER CHECK (closed_characters ${WHOLE}),
  -- What an invoice needs besides: the balance at its beginning, what was added and deducted since, the balance at its end (null for
  -- the current period), and the requests charged in it, once it is final.
  opening_micro INTEGER,
  added_micro INTEGER NOT NULL DEFAULT 0,
  deducted_micro INTEGER NOT NULL DEFAULT 0,
  balance_micro INTEGER,
  closed_requests INTEGER,
  -- What test keys used for nothing, once the period has been left; and all that was charged to them, once it is final.
  allowance_used INTEGER NOT NULL DEFAULT 0 CHECK (allowance_used ${WHOLE}),
  closed_test_characters INTEGER,
  PRIMARY KEY (team, no)
) STRICT, WITHOUT ROWID;

-- Refusals for a limit for which an event was created: of the team where key is 0, of the allowance for test keys where it is -1,
-- otherwise of a key's own limit. The number is the
-- last period in which one was told; for credit how many were told, and told says whether one was since credit was last added.
CREATE TABLE told_refusals (
  team INTEGER NOT NULL,
  key INTEGER NOT NULL,
  code TEXT NOT NULL CHECK (code IN ('quota_exceeded', 'credit_exhausted')),
  number INTEGER NOT NULL,
  told INTEGER NOT NULL CHECK (told BETWEEN 0 AND 1),
  PRIMARY KEY (team, key, code)
) STRICT, WITHOUT ROWID;
-- For the janitor: periods that wait for their open reservations.
CREATE INDEX unclosed_periods ON periods (team, no) WHERE left_ms IS NOT NULL AND closed_characters IS NULL;

CREATE TABLE usage (
  team INTEGER NOT NULL,
  period_no INTEGER NOT NULL,
  key INTEGER NOT NULL REFERENCES keys (no),
  characters INTEGER NOT NULL CHECK (characters ${WHOLE}),
  requests INTEGER NOT NULL CHECK (requests BETWEEN 1 AND 9007199254740991),
  PRIMARY KEY (team, period_no, key),
  FOREIGN KEY (team, period_no) REFERENCES periods (team, no)
) STRICT, WITHOUT ROWID;
CREATE INDEX usage_by_key ON usage (key);

-- Past days. If a key's own row counts the same day, both must be added.
CREATE TABLE usage_days (
  team INTEGER NOT NULL,
  day INTEGER NOT NULL,
  key INTEGER NOT NULL,
  characters INTEGER NOT NULL CHECK (characters ${WHOLE}),
  requests INTEGER NOT NULL CHECK (requests BETWEEN 1 AND 9007199254740991),
  PRIMARY KEY (team, day, key)
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
  -- Whether it is of the allowance for test keys.
  of_allowance INTEGER NOT NULL DEFAULT 0 CHECK (of_allowance BETWEEN 0 AND 1),
  -- With which its characters come back to the windows of its subjects; null if it was counted in none.
  tickets TEXT,
  -- How many tags of the team are counted, and behind a space the request's; null without one.
  tag TEXT,
  PRIMARY KEY (request_id, team),
  CHECK (state = 2 OR (key IS NOT NULL AND period_no IS NOT NULL))
) STRICT, WITHOUT ROWID;
CREATE INDEX open_leases ON operations (team, until_ms) WHERE state = 0;

-- The records of teams (ports/record-space.ts), and their blobs in pieces.
CREATE TABLE records (
  team INTEGER NOT NULL REFERENCES teams (no),
  kind TEXT NOT NULL,
  id TEXT NOT NULL,
  value TEXT NOT NULL,
  PRIMARY KEY (team, kind, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX records_by_id ON records (kind, id);
-- Those of no team, and the ids of their indexes.
CREATE TABLE shared_records (
  kind TEXT NOT NULL,
  id TEXT NOT NULL,
  value TEXT NOT NULL,
  PRIMARY KEY (kind, id)
) STRICT, WITHOUT ROWID;
CREATE TABLE blobs (
  team INTEGER NOT NULL REFERENCES teams (no),
  id TEXT NOT NULL,
  piece_count INTEGER NOT NULL CHECK (piece_count >= 0),
  -- From when on it is deleted in batches: set while it is being written, and since it was dropped.
  gone_ms INTEGER,
  PRIMARY KEY (team, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX blobs_by_end ON blobs (gone_ms) WHERE gone_ms IS NOT NULL;
CREATE TABLE pieces (
  no INTEGER PRIMARY KEY,
  team INTEGER NOT NULL,
  blob TEXT NOT NULL,
  place INTEGER NOT NULL CHECK (place >= 0),
  piece BLOB NOT NULL,
  UNIQUE (team, blob, place)
) STRICT;

-- Changes of teams that are remembered, so that each is made once per id.
CREATE TABLE changes (
  team INTEGER NOT NULL,
  id TEXT NOT NULL,
  request TEXT NOT NULL,
  until_ms INTEGER NOT NULL,
  PRIMARY KEY (team, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX changes_by_end ON changes (until_ms);

-- The highest percentage reported in a period; deleted when the period is closed.
CREATE TABLE told_percents (
  team INTEGER NOT NULL,
  period_no INTEGER NOT NULL,
  percent INTEGER NOT NULL,
  PRIMARY KEY (team, period_no)
) STRICT, WITHOUT ROWID;

-- Changes by operators, in chronological order.
CREATE TABLE audit (
  -- The time and a serial number; as text they sort by both.
  id TEXT PRIMARY KEY,
  -- The id rather than the row number, because entries outlive their team.
  team_id TEXT,
  record TEXT NOT NULL CHECK (json_valid(record))
) STRICT, WITHOUT ROWID;
CREATE INDEX audit_by_team ON audit (team_id, id);
`;

/** The version (`PRAGMA user_version`) of a file with that schema. Earlier ones were never released. */
export const OLDEST_SCHEMA = 21;
