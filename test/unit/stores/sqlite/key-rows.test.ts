// Keys are found by their displayed part, however many there are: they are searched in batches.
import { afterEach, expect, test } from 'vitest';
import { answered } from '../../../../src/domain/store-unavailable.ts';
import { freshKey, teamUnderTest } from '../../../../src/testing/store/team-under-test.ts';
import { sqliteFile } from './sqlite-file.ts';
import type { SqliteFile } from './sqlite-file.ts';

let file: SqliteFile;
afterEach(() => file.remove());

test('matches of all batches are found in their order, none twice', async () => {
  file = sqliteFile();
  const store = await file.open();
  const team = await teamUnderTest(store);
  const display = 'la_live_Ab3d';
  const [first] = answered(await store.teams.listKeys(team.teamId))!;
  // The row numbers that keys would have if many others had been created in between.
  const numbers = [4999, 5000, 5001, 10_000, 10_001, 23_456];
  for (const number of numbers) {
    const { keyId, digest } = freshKey(team.teamId);
    file.query(`INSERT INTO keys (no, key_id, team, digest, display, label, mode, created_at_ms)
      VALUES (${number}, '${keyId}', (SELECT team FROM keys WHERE key_id = '${first!.keyId}'), '${digest}', '${display}', '${number}', 'live', 0)`);
    file.query(`INSERT INTO key_books (team, key) SELECT team, no FROM keys WHERE no = ${number}`);
  }
  const found = answered(await store.teams.findKeys({ display }));
  expect(found.map(({ label }) => Number(label))).toEqual(numbers);
  expect(answered(await store.teams.findKeys({ display: first!.display }))).toMatchObject([{ keyId: first!.keyId }]);
});
