// The schema as an append-only list of steps: a released step is never edited, changes are appended.
import type { DatabaseSync } from 'node:sqlite';
import { FIRST, OLDEST_SCHEMA } from './schema-first.ts';

/** SQL, or a function for what SQL alone cannot do. */
export type SchemaStep = string | ((database: DatabaseSync) => void);

/** The first makes an empty file, each of the others migrates a file to the next version; all run in one transaction. */
export const MIGRATIONS: readonly SchemaStep[] = [FIRST];

/** The version of this schema. */
export const SCHEMA = OLDEST_SCHEMA + MIGRATIONS.length - 1;
