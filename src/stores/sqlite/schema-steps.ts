// The schema as an append-only list of steps: a released step is never edited, changes are appended.
import type { DatabaseSync } from 'node:sqlite';
import { FIRST, OLDEST_SCHEMA } from './schema-first.ts';

/** SQL, or a function for what SQL alone cannot do. */
export type SchemaStep = string | ((database: DatabaseSync) => void);

/** The operator's word for a team; by what it and the name are, because a second team with the same is made with a warning. */
const REFERENCES = `
ALTER TABLE teams ADD COLUMN reference TEXT;
CREATE INDEX teams_by_name ON teams (lower(name));
CREATE INDEX teams_by_reference ON teams (lower(reference));
`;

/** The first makes an empty file, each of the others migrates a file to the next version; all run in one transaction. */
export const MIGRATIONS: readonly SchemaStep[] = [FIRST, REFERENCES];

/** The version of this schema. */
export const SCHEMA = OLDEST_SCHEMA + MIGRATIONS.length - 1;
