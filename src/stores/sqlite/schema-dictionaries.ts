// The third step of the schema: a glossary holds any number of dictionaries; until then each was its own only one.

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
