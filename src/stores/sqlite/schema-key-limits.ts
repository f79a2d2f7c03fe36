// A step of the schema: limits of single keys, and what the ledger counts for them.

const WHOLE = 'BETWEEN 0 AND 9007199254740991';

/** A key has a row of its own only where it is limited or disabled: `guarded` says so, so that the others are read without it. */
export const KEY_LIMITS = `
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
