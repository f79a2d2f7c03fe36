// Copies of a database file: complete or absent, never over another file, and each fault in one line.
import { existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { StoreError } from '../../../../src/domain/store-unavailable.ts';
import { writeCopy } from '../../../../src/stores/sqlite/file-copy.ts';
import type { CopyOptions } from '../../../../src/stores/sqlite/file-copy.ts';
import { sqliteFile } from './sqlite-file.ts';
import type { SqliteFile } from './sqlite-file.ts';

let file: SqliteFile;
let copy: string;
beforeEach(async () => {
  file = sqliteFile();
  copy = join(file.directory, 'copies', 'a.db');
  mkdirSync(join(file.directory, 'copies'));
  await (await file.open()).close();
});
afterEach(() => file.remove());

function refusal(to: string, options?: CopyOptions): string {
  try {
    writeCopy(file.path, to, options);
  } catch (error) {
    expect(error).toBeInstanceOf(StoreError);
    expect((error as StoreError).message).not.toContain('\n');
    return (error as StoreError).message;
  }
  throw new Error('it was copied');
}

test('the copy has everything that was committed, also what is only in the WAL, and leaves nothing beside it', async () => {
  const writer = new DatabaseSync(file.path);
  writer.exec("INSERT INTO changes VALUES (1, 'a', 'b', 9)");
  writer.exec("BEGIN IMMEDIATE; INSERT INTO changes VALUES (1, 'uncommitted', 'b', 9)");
  const bytes = writeCopy(file.path, copy);
  writer.exec('ROLLBACK');
  writer.close();
  expect(readdirSync(join(file.directory, 'copies'))).toEqual(['a.db']);
  expect(statSync(copy)).toMatchObject({ size: bytes });
  expect(statSync(copy).mode & 0o777).toBe(0o600);
  const copied = new DatabaseSync(copy);
  expect(copied.prepare('SELECT id FROM changes').all()).toEqual([{ id: 'a' }]);
  for (const name of ['user_version', 'application_id']) {
    expect(copied.prepare(`PRAGMA ${name}`).get()).toEqual(file.query(`PRAGMA ${name}`)[0]);
  }
  copied.close();
});

test('an existing file is left as it is', () => {
  writeFileSync(copy, 'mine');
  expect(refusal(copy)).toBe(`${copy} exists already and is left as it is: name a file that does not exist.`);
  expect(statSync(copy).size).toBe(4);
});

test('a path whose directory is missing, or is a file, is named', () => {
  const nowhere = join(file.directory, 'nowhere', 'a.db');
  expect(refusal(nowhere)).toBe(`there is no directory ${join(file.directory, 'nowhere')}: make it, or name a file in another one.`);
  expect(refusal(join(file.path, 'a.db'))).toBe(`there is no directory ${file.path}: make it, or name a file in another one.`);
});

test('without enough room nothing is written', () => {
  expect(refusal(copy, { freeBytes: () => 1000 })).toMatch(
    /^sqlite:\S+lingate\.db needs 1 MB of room in \S+copies to be copied, and 1 MB are free: make room\.$/,
  );
  const { size } = statSync(file.path);
  expect(refusal(copy, { freeBytes: () => size * 1.5, spare: 1 })).toContain('make room');
  expect(readdirSync(join(file.directory, 'copies'))).toEqual([]);
});

test('the rest of a copy that was killed is replaced by the next one', () => {
  writeFileSync(join(file.directory, 'copies', '.a.db.part'), 'half of something');
  writeCopy(file.path, copy);
  expect(readdirSync(join(file.directory, 'copies'))).toEqual(['a.db']);
});

test('a damaged file is not copied', () => {
  const damaged = join(file.directory, 'damaged.db');
  writeFileSync(damaged, 'Dear diary, '.repeat(1000));
  expect(() => writeCopy(damaged, copy)).toThrow(
    /could not be written \(not_a_database\): the database is damaged; restore it from a backup/,
  );
  expect(existsSync(copy)).toBe(false);
});
