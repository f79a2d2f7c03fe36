// Steps of the schema beside the books: what gateways leave about themselves, and what operators have changed.

/** One row for each host and configuration file. */
export const GATEWAYS = `
CREATE TABLE gateways (
  host TEXT NOT NULL,
  file TEXT NOT NULL,
  seen_at_ms INTEGER NOT NULL,
  plans TEXT NOT NULL CHECK (json_valid(plans)),
  PRIMARY KEY (host, file)
) STRICT, WITHOUT ROWID;
`;

/** Changes of teams that are remembered, so that each is made once under its id. */
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

/** What operators have changed, in order of time. */
export const AUDIT = `
CREATE TABLE audit (
  -- The moment, and a number within it: as text they sort by both.
  id TEXT PRIMARY KEY,
  -- Not the team's number: entries outlive their team.
  team_id TEXT,
  record TEXT NOT NULL CHECK (json_valid(record))
) STRICT, WITHOUT ROWID;
CREATE INDEX audit_by_team ON audit (team_id, id);
`;
