// A file is migrated by the steps that it has not had yet, with everything in it.
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { answered } from '../../../../src/domain/store-unavailable.ts';
import { migrate } from '../../../../src/stores/sqlite/migrate.ts';
import { OLDEST_SCHEMA } from '../../../../src/stores/sqlite/schema-first.ts';
import { MIGRATIONS, SCHEMA } from '../../../../src/stores/sqlite/schema-steps.ts';
import type { SchemaStep } from '../../../../src/stores/sqlite/schema-steps.ts';
import { teamUnderTest } from '../../../../src/testing/store/team-under-test.ts';
import { sqliteFile } from './sqlite-file.ts';
import type { SqliteFile } from './sqlite-file.ts';

const NOTE = "ALTER TABLE keys ADD COLUMN note TEXT NOT NULL DEFAULT ''";
/** A step for what SQL alone cannot do. */
function describe(database: DatabaseSync): void {
  const describing = database.prepare('UPDATE keys SET note = ? WHERE key_id = ?');
  for (const { key_id: id } of database.prepare('SELECT key_id FROM keys').all()) describing.run(`note of ${String(id)}`, id!);
}

let file: SqliteFile;
let teamId: string;
let keyId: string;

beforeEach(async () => {
  file = sqliteFile();
  const store = await file.open();
  ({ teamId, keyId } = await teamUnderTest(store));
  await store.close();
});

afterEach(() => file.remove());

function migrated(...later: readonly SchemaStep[]): unknown {
  const database = new DatabaseSync(file.path);
  try {
    return migrate(database, 'sqlite:test', { steps: [...MIGRATIONS, ...later] });
  } finally {
    database.close();
  }
}

test('each step is run once, and what was there stays', async () => {
  expect(migrated()).toBeUndefined();
  expect(migrated(NOTE)).toEqual({ from: SCHEMA, to: SCHEMA + 1, copy: undefined });
  expect(file.query('SELECT note FROM keys')).toEqual([{ note: '' }]);
  expect(migrated(NOTE, describe)).toEqual({ from: SCHEMA + 1, to: SCHEMA + 2, copy: undefined });
  expect(migrated(NOTE, describe)).toBeUndefined();
  expect(file.query('SELECT note FROM keys')).toEqual([{ note: `note of ${keyId}` }]);
  expect(file.query('PRAGMA integrity_check')).toEqual([{ integrity_check: 'ok' }]);
  file.query(`PRAGMA user_version = ${SCHEMA}`);
  expect(answered(await (await file.open()).teams.findTeam(teamId))?.teamId).toBe(teamId);
});

test('a file of an even older schema is refused in one line, and left as it is', async () => {
  file.query(`PRAGMA user_version = ${OLDEST_SCHEMA - 1}`);
  await expect(file.open()).rejects.toThrow(
    `too old for this one (schema ${OLDEST_SCHEMA - 1}, the oldest that is read is ${OLDEST_SCHEMA}): migrate it with a version in between first.`,
  );
  expect(file.query('SELECT count(*) AS count FROM books')).toEqual([{ count: 1 }]);
});
