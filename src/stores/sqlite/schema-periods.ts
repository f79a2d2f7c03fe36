// The fifth step of the schema: what a team's periods are counted from, and how each stood when it was left.

export const PERIODS = `
-- Null: the team's creation. Another moment since the length of its periods was changed.
ALTER TABLE periods ADD COLUMN anchor_ms INTEGER;
-- Null while it is the one that counts. Before its end where a plan with another length was given to the team.
ALTER TABLE periods ADD COLUMN left_ms INTEGER;
-- What held in it at last: the plan's name, and the limits by their names.
ALTER TABLE periods ADD COLUMN plan TEXT;
ALTER TABLE periods ADD COLUMN limits TEXT CHECK (json_valid(limits));
`;

/** A later step: changes of teams that are remembered, so that each is made once under its id. */
export const CHANGES = `
CREATE TABLE changes (
  team INTEGER NOT NULL,
  id TEXT NOT NULL,
  request TEXT NOT NULL,
  until_ms INTEGER NOT NULL,
  PRIMARY KEY (team, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX changes_by_end ON changes (until_ms);
`;
