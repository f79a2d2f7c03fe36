// The fourth step of the schema: ids of requests under a rule that costs nothing to judge.

const WHOLE = 'BETWEEN 0 AND 9007199254740991';

/**
 * SQLite judges a list of three by a table of its own, made anew for every row that is written: a quarter of what the whole
 * ledger cost. The rule is the same in other words: all but released ids have a key and a period.
 */
export const OPERATIONS = `
ALTER TABLE operations RENAME TO operations_before;
DROP INDEX open_leases;
CREATE TABLE operations (
  request_id TEXT NOT NULL,
  team INTEGER NOT NULL,
  -- 0 open, 1 committed, 2 released, 3 expired.
  state INTEGER NOT NULL CHECK (state BETWEEN 0 AND 3),
  -- Open: the end of the lease. Otherwise: when the id is forgotten.
  until_ms INTEGER NOT NULL,
  key INTEGER,
  characters INTEGER NOT NULL CHECK (characters ${WHOLE}),
  price_micro INTEGER NOT NULL CHECK (price_micro ${WHOLE}),
  period_no INTEGER,
  PRIMARY KEY (request_id, team),
  CHECK (state = 2 OR (key IS NOT NULL AND period_no IS NOT NULL))
) STRICT, WITHOUT ROWID;
INSERT INTO operations SELECT * FROM operations_before;
DROP TABLE operations_before;
CREATE INDEX open_leases ON operations (team, until_ms) WHERE state = 0;
`;
