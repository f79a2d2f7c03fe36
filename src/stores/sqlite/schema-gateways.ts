// A step of the schema: what gateways leave about themselves, one row for each host and configuration file.

export const GATEWAYS = `
CREATE TABLE gateways (
  host TEXT NOT NULL,
  file TEXT NOT NULL,
  seen_at_ms INTEGER NOT NULL,
  plans TEXT NOT NULL CHECK (json_valid(plans)),
  PRIMARY KEY (host, file)
) STRICT, WITHOUT ROWID;
`;
