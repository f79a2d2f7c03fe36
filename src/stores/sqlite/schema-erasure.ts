// A step of the schema: how far the deletion of a team is, and what makes deleting its keys cheap.

/**
 * `erasure`: 0 it is a team; 1 it is being erased; 2 the same, but its usage stays; 3 only its usage is left. From 1 on nobody but
 * the erasure and the history look at it. SQLite looks for rows that refer to a deleted key in both tables: without an index it
 * would read them from end to end for each key. What operations change is in neither index.
 */
export const ERASURE = `
ALTER TABLE teams ADD COLUMN erasure INTEGER NOT NULL DEFAULT 0 CHECK (erasure BETWEEN 0 AND 3);
CREATE INDEX unfinished_erasures ON teams (no) WHERE erasure BETWEEN 1 AND 2;
CREATE INDEX key_books_by_key ON key_books (key);
CREATE INDEX usage_by_key ON usage (key);
`;

/** Of a team that was deleted and has left no usage either, or none that is still kept, the rest goes too. */
export const ERASE_USELESS = `UPDATE teams SET erasure = 1 WHERE no = ? AND erasure > 1
  AND NOT EXISTS (SELECT 1 FROM usage_days d WHERE d.team = teams.no) AND NOT EXISTS (SELECT 1 FROM periods p WHERE p.team = teams.no)`;
