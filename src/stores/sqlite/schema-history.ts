// Steps of the schema for what is over: what periods were counted from and came to, and what was used by UTC day.

const WHOLE = 'BETWEEN 0 AND 9007199254740991';

/** What a team's periods are counted from, and how each stood when it was left. */
export const PERIODS = `
-- Null: the team's creation. Another moment since the length of its periods was changed.
ALTER TABLE periods ADD COLUMN anchor_ms INTEGER;
-- Null while it is the one that counts. Before its end where a plan with another length was given to the team.
ALTER TABLE periods ADD COLUMN left_ms INTEGER;
-- What held in it at last: the plan's name, and the limits by their names.
ALTER TABLE periods ADD COLUMN plan TEXT;
ALTER TABLE periods ADD COLUMN limits TEXT CHECK (json_valid(limits));
`;

/** Days are counted from this version on: the first of a file may be a part of one. */
export const HISTORY = `
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
