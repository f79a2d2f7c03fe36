// The schema as an append-only list of steps: a released step is never edited, changes are appended.
import type { DatabaseSync } from 'node:sqlite';
import { FIRST, OLDEST_SCHEMA } from './schema-first.ts';

/** SQL, or a function for what SQL alone cannot do. */
export type SchemaStep = string | ((database: DatabaseSync) => void);

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
export const MIGRATIONS: readonly SchemaStep[] = [FIRST, REFERENCES_AND_NEXT_PLANS];

/** The version of this schema. */
export const SCHEMA = OLDEST_SCHEMA + MIGRATIONS.length - 1;
