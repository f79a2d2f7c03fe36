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

/** The first makes an empty file, each of the others migrates a file to the next version; all run in one transaction. */
export const MIGRATIONS: readonly SchemaStep[] = [FIRST, TOLD_REFUSALS];

/** The version of this schema. */
export const SCHEMA = OLDEST_SCHEMA + MIGRATIONS.length - 1;
