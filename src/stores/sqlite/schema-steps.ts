// The schema as a list of steps that only ever grows: a released step is never edited, a change is a new one behind it.
import type { DatabaseSync } from 'node:sqlite';
import { writtenEntries } from '../../domain/entries-text.ts';
import { FIRST, OLDEST_SCHEMA, WHOLE } from './schema-first.ts';

/** What a team's periods are counted from, and how each stood when it was left. */
const PERIODS = `
-- Null: the team's creation. Another moment since the length of its periods was changed.
ALTER TABLE periods ADD COLUMN anchor_ms INTEGER;
-- Null while it is the one that counts. Before its end where a plan with another length was given to the team.
ALTER TABLE periods ADD COLUMN left_ms INTEGER;
-- What held in it at last: the plan's name, and the limits by their names.
ALTER TABLE periods ADD COLUMN plan TEXT;
ALTER TABLE periods ADD COLUMN limits TEXT CHECK (json_valid(limits));
`;

/** Cuts the entries of dictionaries into pieces, counted for each team. */
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
-- The entries of a dictionary, JSON without the braces around all. Also of ones that no glossary holds (unheld).
CREATE TABLE pieces (
  no INTEGER PRIMARY KEY,
  dictionary_id TEXT NOT NULL,
  place INTEGER NOT NULL CHECK (place >= 0),
  entries BLOB NOT NULL CHECK (json_valid('{' || CAST(entries AS TEXT) || '}')),
  UNIQUE (dictionary_id, place)
) STRICT;
-- Dictionaries that are being written, or were dropped: their pieces are deleted a few at a time, from this time on.
CREATE TABLE unheld (dictionary_id TEXT PRIMARY KEY, from_ms INTEGER NOT NULL) STRICT, WITHOUT ROWID;
-- The bytes of all entries of a team.
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

/** Changes of teams that are remembered, so that each is made once under its id. */
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

/** One row for each host and configuration file. */
const GATEWAYS = `
CREATE TABLE gateways (
  host TEXT NOT NULL,
  file TEXT NOT NULL,
  seen_at_ms INTEGER NOT NULL,
  plans TEXT NOT NULL CHECK (json_valid(plans)),
  PRIMARY KEY (host, file)
) STRICT, WITHOUT ROWID;
`;

/** Days are counted from this version on: the first of a file may be a part of one. */
const HISTORY = `
-- The day that the team's keys count now, and their counts of it. Written with the counts of the period, so they cost no row.
ALTER TABLE books ADD COLUMN day INTEGER NOT NULL DEFAULT 0 CHECK (day >= 0);
ALTER TABLE key_books ADD COLUMN day_characters INTEGER NOT NULL DEFAULT 0 CHECK (day_characters ${WHOLE});
ALTER TABLE key_books ADD COLUMN day_requests INTEGER NOT NULL DEFAULT 0 CHECK (day_requests ${WHOLE});
-- Days that are over. What a key's own row counts of the same day is to be added.
CREATE TABLE usage_days (
  team INTEGER NOT NULL,
  day INTEGER NOT NULL,
  key INTEGER NOT NULL,
  characters INTEGER NOT NULL CHECK (characters ${WHOLE}),
  requests INTEGER NOT NULL CHECK (requests BETWEEN 1 AND 9007199254740991),
  PRIMARY KEY (team, day, key)
) STRICT, WITHOUT ROWID;

-- For the janitor: teams whose day or period is over, and periods that wait for what is open in them.
CREATE INDEX books_by_day ON books (day) WHERE day > 0;
CREATE INDEX books_by_period_end ON books (period_end_ms);
-- What was charged in it, once nothing of it can change any more.
ALTER TABLE periods ADD COLUMN closed_characters INTEGER CHECK (closed_characters ${WHOLE});
CREATE INDEX unclosed_periods ON periods (team, no) WHERE left_ms IS NOT NULL AND closed_characters IS NULL;
`;

/**
 * `erasure`: 0 it is a team; 1 it is being erased; 2 the same, but its usage stays; 3 only its usage is left. From 1 on nobody but
 * the erasure and the history look at it. SQLite looks for rows that refer to a deleted key in both tables: without an index it
 * would read them from end to end for each key. What operations change is in neither index.
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
  -- When it is to be sent, and how often that was tried in vain.
  due_ms INTEGER NOT NULL,
  tries INTEGER NOT NULL DEFAULT 0 CHECK (tries >= 0),
  facts TEXT NOT NULL CHECK (json_valid(facts))
) STRICT;
CREATE INDEX outbox_by_due ON outbox (due_ms, no);
CREATE INDEX outbox_by_team ON outbox (team_id);

-- The one process that sends, until when, and by which rules events are kept: processes without rules of their own follow them.
CREATE TABLE outbox_lease (
  no INTEGER PRIMARY KEY CHECK (no = 1),
  holder TEXT NOT NULL,
  until_ms INTEGER NOT NULL,
  rules TEXT NOT NULL CHECK (json_valid(rules))
) STRICT;

-- The highest percent that was told in a period; gone when the period is closed.
CREATE TABLE told_percents (
  team INTEGER NOT NULL,
  period_no INTEGER NOT NULL,
  percent INTEGER NOT NULL,
  PRIMARY KEY (team, period_no)
) STRICT, WITHOUT ROWID;
`;

/** What operators have changed, in order of time. */
const AUDIT = `
CREATE TABLE audit (
  -- The moment, and a number within it: as text they sort by both.
  id TEXT PRIMARY KEY,
  -- Not the team's number: entries outlive their team.
  team_id TEXT,
  record TEXT NOT NULL CHECK (json_valid(record))
) STRICT, WITHOUT ROWID;
CREATE INDEX audit_by_team ON audit (team_id, id);
`;

/** A key has a row of its own only where it is limited or disabled: `guarded` says so, so that the others are read without it. */
const KEY_LIMITS = `
ALTER TABLE keys ADD COLUMN guarded INTEGER NOT NULL DEFAULT 0 CHECK (guarded BETWEEN 0 AND 1);
CREATE TABLE key_limits (
  key INTEGER PRIMARY KEY REFERENCES keys (no),
  team INTEGER NOT NULL,
  disabled INTEGER NOT NULL CHECK (disabled BETWEEN 0 AND 1),
  -- Null where there is no such limit.
  expires_at_ms INTEGER,
  requests_per_second INTEGER CHECK (requests_per_second BETWEEN 1 AND 9007199254740991),
  characters INTEGER CHECK (characters BETWEEN 1 AND 9007199254740991),
  addresses TEXT CHECK (json_valid(addresses)),
  -- What open reservations of the key hold in the period of this number; counted only while its characters are limited.
  held_period_no INTEGER NOT NULL DEFAULT 0 CHECK (held_period_no >= 0),
  held_characters INTEGER NOT NULL DEFAULT 0 CHECK (held_characters ${WHOLE}),
  -- As in books; empty while its rate is not limited.
  window_newest_ms INTEGER NOT NULL DEFAULT 0,
  window BLOB NOT NULL DEFAULT x'' CHECK (length(window) <= 16384)
) STRICT;
CREATE INDEX key_limits_by_team ON key_limits (team);
`;

/** SQL, or what SQL alone cannot do. */
export type SchemaStep = string | ((database: DatabaseSync) => void);

/** Each brings a file to the next version, all of them in one transaction. */
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
];

/** The version of this schema. */
export const SCHEMA = OLDEST_SCHEMA + MIGRATIONS.length - 1;
