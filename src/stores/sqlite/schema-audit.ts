// A step of the schema: what operators have changed, in order of time.

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
