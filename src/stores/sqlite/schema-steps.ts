// The schema as an append-only list of steps: a released step is never edited, changes are appended.
import type { DatabaseSync } from 'node:sqlite';
import { FIRST, OLDEST_SCHEMA } from './schema-first.ts';

/** SQL, or a function for what SQL alone cannot do. */
export type SchemaStep = string | ((database: DatabaseSync) => void);

/**
 * Refusals for a limit for which an event was created: of the team where `key` is 0, otherwise of a key's own limit. `number` is
 * the last period in which one was told; for credit how many were told, and `told` whether one was since credit was last added.
 */
const TOLD_REFUSALS = `
CREATE TABLE told_refusals (
  team INTEGER NOT NULL,
  key INTEGER NOT NULL,
  code TEXT NOT NULL CHECK (code IN ('quota_exceeded', 'credit_exhausted')),
  number INTEGER NOT NULL,
  told INTEGER NOT NULL CHECK (told BETWEEN 0 AND 1),
  PRIMARY KEY (team, key, code)
) STRICT, WITHOUT ROWID;
`;

/** What an invoice needs of a period. Null where a period began, or was closed, before this was recorded. */
const PERIOD_MONEY = `
ALTER TABLE periods ADD COLUMN opening_micro INTEGER;
ALTER TABLE periods ADD COLUMN added_micro INTEGER NOT NULL DEFAULT 0;
ALTER TABLE periods ADD COLUMN deducted_micro INTEGER NOT NULL DEFAULT 0;
-- The balance at its end; null for the current period.
ALTER TABLE periods ADD COLUMN balance_micro INTEGER;
-- The requests charged in it, once it is final.
ALTER TABLE periods ADD COLUMN closed_requests INTEGER;
UPDATE periods SET closed_requests = (SELECT sum(requests) FROM usage u WHERE u.team = periods.team AND u.period_no = periods.no)
  WHERE closed_characters IS NOT NULL;
`;

/**
 * The operator's word for a team, and the plan that waits for the end of its period. Teams are found by name and reference, because
 * a second one with the same is made with a warning.
 */
const REFERENCES_AND_NEXT_PLANS = `
ALTER TABLE teams ADD COLUMN reference TEXT;
-- The plan that the team gets when its period ends, with its limits by name, and who ordered that; null without one.
ALTER TABLE teams ADD COLUMN next_plan TEXT;
ALTER TABLE teams ADD COLUMN next_limits TEXT CHECK (json_valid(next_limits));
ALTER TABLE teams ADD COLUMN next_by TEXT CHECK (json_valid(next_by));
CREATE INDEX teams_by_name ON teams (lower(name));
CREATE INDEX teams_by_reference ON teams (lower(reference));
`;

/** The first makes an empty file, each of the others migrates a file to the next version; all run in one transaction. */
export const MIGRATIONS: readonly SchemaStep[] = [FIRST, TOLD_REFUSALS, PERIOD_MONEY, REFERENCES_AND_NEXT_PLANS];

/** The version of this schema. */
export const SCHEMA = OLDEST_SCHEMA + MIGRATIONS.length - 1;
