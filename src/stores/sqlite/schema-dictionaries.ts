// The steps of the schema that brought dictionaries: their table, and their cut into pieces, counted for each team.
import type { DatabaseSync } from 'node:sqlite';
import { writtenEntries } from '../../domain/entries-text.ts';

export const DICTIONARIES = `
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
INSERT INTO dictionaries (dictionary_id, glossary, place, source_lang, target_lang, entry_count, entries)
  SELECT glossary_id, no, 0, source_lang, target_lang, entry_count, entries FROM glossaries ORDER BY no;
ALTER TABLE glossaries DROP COLUMN entries;
ALTER TABLE glossaries DROP COLUMN entry_count;
ALTER TABLE glossaries DROP COLUMN source_lang;
ALTER TABLE glossaries DROP COLUMN target_lang;
ALTER TABLE glossaries ADD COLUMN revision INTEGER NOT NULL DEFAULT 1 CHECK (revision >= 1);
`;

const BEFORE = `
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
  bytes INTEGER NOT NULL CHECK (bytes BETWEEN 0 AND ${Number.MAX_SAFE_INTEGER})
) STRICT;
ALTER TABLE dictionaries ADD COLUMN piece_count INTEGER NOT NULL DEFAULT 1 CHECK (piece_count >= 1);
ALTER TABLE dictionaries ADD COLUMN bytes INTEGER NOT NULL DEFAULT 0 CHECK (bytes >= 0);
`;

const AFTER = `
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

export function cutDictionaries(database: DatabaseSync): void {
  database.exec(BEFORE);
  const next = database.prepare('SELECT no, dictionary_id, entries FROM dictionaries WHERE no > ? ORDER BY no LIMIT 1');
  const addPiece = database.prepare('INSERT INTO pieces (dictionary_id, place, entries) VALUES (?, ?, ?)');
  const count = database.prepare('UPDATE dictionaries SET piece_count = ?, bytes = ? WHERE no = ?');
  for (let row = next.get(0); row !== undefined; row = next.get(row['no']!)) {
    const { pieces, bytes } = writtenEntries(JSON.parse(String(row['entries'])) as Record<string, string>);
    for (const [place, piece] of pieces.entries()) addPiece.run(row['dictionary_id']!, place, piece);
    count.run(pieces.length, bytes, row['no']!);
  }
  database.exec(AFTER);
}
