// The schema as an append-only list of steps: a released step is never edited, changes are appended.
import type { DatabaseSync } from 'node:sqlite';
import { writtenEntries } from '../../domain/entries-text.ts';
import { FIRST, OLDEST_SCHEMA, WHOLE } from './schema-first.ts';

/** The anchor of a team's periods, and the state of each period when it ended. */
const PERIODS = `
-- Null for the team's creation; set since the length of its periods was changed.
ALTER TABLE periods ADD COLUMN anchor_ms INTEGER;
-- Null for the current period. Earlier than its end if a plan with another length ended it.
ALTER TABLE periods ADD COLUMN left_ms INTEGER;
-- The last plan that applied to it, and its limits by name.
ALTER TABLE periods ADD COLUMN plan TEXT;
ALTER TABLE periods ADD COLUMN limits TEXT CHECK (json_valid(limits));
`;

/** Splits the entries of dictionaries into pieces, and counts their bytes per team. */
function cutDictionaries(database: DatabaseSync): void {
  database.exec(PIECES);
  const next = database.prepare('SELECT no, dictionary_id, entries FROM dictionaries WHERE no > ? ORDER BY no LIMIT 1');
  const addPiece = database.prepare('INSERT INTO pieces (dictionary_id, place, entries) VALUES (?, ?, ?)');
  const count = database.prepare('UPDATE dictionaries SET piece_count = ?, bytes = ? WHERE no = ?');
  for (let row = next.get(0); row !== undefined; row = next.get(row['no']!)) {
    const { pieces, bytes } = writtenEntries(JSON.parse(String(row['entries'])) as Record<string, string>);
    for (const [place, piece] of pieces.entries()) addPiece.run(row['dictionary_id']!, place, piece);
    count.run(pieces.length, bytes, row['no']!);
  }
  database.exec(WHOLE_ENTRIES_GONE);
}

const PIECES = `
-- The entries of dictionaries, JSON without the enclosing braces. Includes dictionaries that no glossary holds (unheld).
CREATE TABLE pieces (
  no INTEGER PRIMARY KEY,
  dictionary_id TEXT NOT NULL,
  place INTEGER NOT NULL CHECK (place >= 0),
  entries BLOB NOT NULL CHECK (json_valid('{' || CAST(entries AS TEXT) || '}')),
  UNIQUE (dictionary_id, place)
) STRICT;
-- Dictionaries that are being written, or were dropped: their pieces are deleted in batches from this time on.
CREATE TABLE unheld (dictionary_id TEXT PRIMARY KEY, from_ms INTEGER NOT NULL) STRICT, WITHOUT ROWID;
-- The total bytes of a team's entries.
CREATE TABLE glossary_bytes (
  team INTEGER PRIMARY KEY,
  bytes INTEGER NOT NULL CHECK (bytes ${WHOLE})
) STRICT;
ALTER TABLE dictionaries ADD COLUMN piece_count INTEGER NOT NULL DEFAULT 1 CHECK (piece_count >= 1);
ALTER TABLE dictionaries ADD COLUMN bytes INTEGER NOT NULL DEFAULT 0 CHECK (bytes >= 0);
`;

const WHOLE_ENTRIES_GONE = `
ALTER TABLE dictionaries DROP COLUMN entries;
INSERT INTO glossary_bytes (team, bytes)
  SELECT g.team, sum(d.bytes) FROM dictionaries d JOIN glossaries g ON g.no = d.glossary GROUP BY g.team;
CREATE TRIGGER dictionary_added AFTER INSERT ON dictionaries BEGIN
  INSERT INTO glossary_bytes (team, bytes) SELECT team, NEW.bytes FROM glossaries WHERE no = NEW.glossary
    ON CONFLICT (team) DO UPDATE SET bytes = bytes + excluded.bytes;
END;
CREATE TRIGGER dictionary_dropped AFTER DELETE ON dictionaries BEGIN
  UPDATE glossary_bytes SET bytes = bytes - OLD.bytes WHERE team = (SELECT team FROM glossaries WHERE no = OLD.glossary);
  INSERT OR REPLACE INTO unheld (dictionary_id, from_ms) VALUES (OLD.dictionary_id, 0);
END;
`;

/** Changes of teams that are remembered, so that each is made once per id. */
const CHANGES = `
CREATE TABLE changes (
  team INTEGER NOT NULL,
  id TEXT NOT NULL,
  request TEXT NOT NULL,
  until_ms INTEGER NOT NULL,
  PRIMARY KEY (team, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX changes_by_end ON changes (until_ms);
`;

/** One row per host and configuration file. */
const GATEWAYS = `
CREATE TABLE gateways (
  host TEXT NOT NULL,
  file TEXT NOT NULL,
  seen_at_ms INTEGER NOT NULL,
  plans TEXT NOT NULL CHECK (json_valid(plans)),
  PRIMARY KEY (host, file)
) STRICT, WITHOUT ROWID;
`;

/** Days are counted from this version on, so the first day in a file may be incomplete. */
const HISTORY = `
-- The current day of the team's keys, and their counts of it. Written with the period's counts, so that they cost no extra row.
ALTER TABLE books ADD COLUMN day INTEGER NOT NULL DEFAULT 0 CHECK (day >= 0);
ALTER TABLE key_books ADD COLUMN day_characters INTEGER NOT NULL DEFAULT 0 CHECK (day_characters ${WHOLE});
ALTER TABLE key_books ADD COLUMN day_requests INTEGER NOT NULL DEFAULT 0 CHECK (day_requests ${WHOLE});
-- Past days. If a key's own row counts the same day, both must be added.
CREATE TABLE usage_days (
  team INTEGER NOT NULL,
  day INTEGER NOT NULL,
  key INTEGER NOT NULL,
  characters INTEGER NOT NULL CHECK (characters ${WHOLE}),
  requests INTEGER NOT NULL CHECK (requests BETWEEN 1 AND 9007199254740991),
  PRIMARY KEY (team, day, key)
) STRICT, WITHOUT ROWID;

-- For the janitor: teams whose day or period has ended, and periods that wait for their open reservations.
CREATE INDEX books_by_day ON books (day) WHERE day > 0;
CREATE INDEX books_by_period_end ON books (period_end_ms);
-- The characters charged in it, once it is final.
ALTER TABLE periods ADD COLUMN closed_characters INTEGER CHECK (closed_characters ${WHOLE});
CREATE INDEX unclosed_periods ON periods (team, no) WHERE left_ms IS NOT NULL AND closed_characters IS NULL;
`;

/**
 * `erasure`: 0 not deleted; 1 being deleted; 2 being deleted, but its usage is kept; 3 only its usage is left. From 1 on only
 * the deletion and the history use the row. For each deleted key, SQLite searches both tables for rows that refer to it, which
 * would be a full scan without an index. No operation changes the indexed columns.
 */
const ERASURE = `
ALTER TABLE teams ADD COLUMN erasure INTEGER NOT NULL DEFAULT 0 CHECK (erasure BETWEEN 0 AND 3);
CREATE INDEX unfinished_erasures ON teams (no) WHERE erasure BETWEEN 1 AND 2;
CREATE INDEX key_books_by_key ON key_books (key);
CREATE INDEX usage_by_key ON usage (key);
`;

const OUTBOX = `
CREATE TABLE outbox (
  no INTEGER PRIMARY KEY,
  event_id TEXT NOT NULL UNIQUE,
  team_id TEXT NOT NULL,
  at_ms INTEGER NOT NULL,
  -- When it is due to be sent, and the number of failed attempts.
  due_ms INTEGER NOT NULL,
  tries INTEGER NOT NULL DEFAULT 0 CHECK (tries >= 0),
  facts TEXT NOT NULL CHECK (json_valid(facts))
) STRICT;
CREATE INDEX outbox_by_due ON outbox (due_ms, no);
CREATE INDEX outbox_by_team ON outbox (team_id);

-- The process that sends, until when, and the rules for storing events, which processes without rules of their own follow.
CREATE TABLE outbox_lease (
  no INTEGER PRIMARY KEY CHECK (no = 1),
  holder TEXT NOT NULL,
  until_ms INTEGER NOT NULL,
  rules TEXT NOT NULL CHECK (json_valid(rules))
) STRICT;

-- The highest percentage reported in a period; deleted when the period is closed.
CREATE TABLE told_percents (
  team INTEGER NOT NULL,
  period_no INTEGER NOT NULL,
  percent INTEGER NOT NULL,
  PRIMARY KEY (team, period_no)
) STRICT, WITHOUT ROWID;
`;

/** Changes by operators, in chronological order. */
const AUDIT = `
CREATE TABLE audit (
  -- The time and a serial number; as text they sort by both.
  id TEXT PRIMARY KEY,
  -- The id rather than the row number, because entries outlive their team.
  team_id TEXT,
  record TEXT NOT NULL CHECK (json_valid(record))
) STRICT, WITHOUT ROWID;
CREATE INDEX audit_by_team ON audit (team_id, id);
`;

/** A key has a row here only if it is limited or disabled, which `guarded` records, so that other keys are read without it. */
const KEY_LIMITS = `
ALTER TABLE keys ADD COLUMN guarded INTEGER NOT NULL DEFAULT 0 CHECK (guarded BETWEEN 0 AND 1);
CREATE TABLE key_limits (
  key INTEGER PRIMARY KEY REFERENCES keys (no),
  team INTEGER NOT NULL,
  disabled INTEGER NOT NULL CHECK (disabled BETWEEN 0 AND 1),
  -- Null if there is no such limit.
  expires_at_ms INTEGER,
  requests_per_second INTEGER CHECK (requests_per_second BETWEEN 1 AND 9007199254740991),
  characters INTEGER CHECK (characters BETWEEN 1 AND 9007199254740991),
  addresses TEXT CHECK (json_valid(addresses)),
  -- What the key's open reservations hold in this period; only maintained while its characters are limited.
  held_period_no INTEGER NOT NULL DEFAULT 0 CHECK (held_period_no >= 0),
  held_characters INTEGER NOT NULL DEFAULT 0 CHECK (held_characters ${WHOLE}),
  -- As in books; empty unless its rate is limited.
  window_newest_ms INTEGER NOT NULL DEFAULT 0,
  window BLOB NOT NULL DEFAULT x'' CHECK (length(window) <= 16384)
) STRICT;
CREATE INDEX key_limits_by_team ON key_limits (team);
`;

/** Counts the events of a team's changes, which may fall within one millisecond. */
const EVENT_SERIALS = `
ALTER TABLE books ADD COLUMN event_serial INTEGER NOT NULL DEFAULT 0 CHECK (event_serial ${WHOLE});
`;

/** Requests of operators that must take effect once. */
const REQUESTS = `
CREATE TABLE requests (
  -- Made of the operator and their key.
  id TEXT PRIMARY KEY,
  request TEXT NOT NULL,
  -- The id for what it creates.
  record_id TEXT NOT NULL,
  -- The id rather than the row number: a request may create its team. Null if it concerns none, or it is not known yet.
  team_id TEXT,
  -- The process that runs it, until when; null if none does.
  holder TEXT,
  lease_until_ms INTEGER NOT NULL,
  -- When it is forgotten.
  until_ms INTEGER NOT NULL,
  -- Null until it has been answered.
  answer TEXT CHECK (json_valid(answer))
) STRICT, WITHOUT ROWID;
CREATE INDEX requests_by_end ON requests (until_ms);
CREATE INDEX requests_by_team ON requests (team_id);
`;

/** The latest time that a process has believed (domain/judged-clock.ts), and when that was on the machine's monotonic clock. */
const CLOCK = `
CREATE TABLE clock (
  no INTEGER PRIMARY KEY CHECK (no = 1),
  latest_ms INTEGER NOT NULL,
  boot TEXT NOT NULL,
  monotonic_ms INTEGER NOT NULL
) STRICT;
`;

/** SQL, or a function for what SQL alone cannot do. */
export type SchemaStep = string | ((database: DatabaseSync) => void);

/** Each migrates a file to the next version; all run in one transaction. */
export const MIGRATIONS: readonly SchemaStep[] = [
  FIRST,
  PERIODS,
  cutDictionaries,
  CHANGES,
  GATEWAYS,
  HISTORY,
  ERASURE,
  OUTBOX,
  AUDIT,
  KEY_LIMITS,
  EVENT_SERIALS,
  REQUESTS,
  CLOCK,
];

/** The version of this schema. */
export const SCHEMA = OLDEST_SCHEMA + MIGRATIONS.length - 1;
