// The schema refuses rows that break the accounts, whatever writes them, and changes beyond the bounds.
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { answered } from '../../../../src/domain/store-unavailable.ts';
import type { PluginStore } from '../../../../src/ports/plugin.ts';
import { singleGlossary } from '../../../../src/testing/store/dictionaries-under-test.ts';
import { freshKey, GENEROUS_QUOTA, teamUnderTest } from '../../../../src/testing/store/team-under-test.ts';
import type { TeamUnderTest } from '../../../../src/testing/store/team-under-test.ts';
import { sqliteFile } from './sqlite-file.ts';

const file = sqliteFile();
let store: PluginStore;
let team: TeamUnderTest;
let database: DatabaseSync;

beforeAll(async () => {
  store = await file.open();
  team = await teamUnderTest(store, { billing: 'credit', minorPerMillion: 1 }, 1000);
  await team.commit((await team.reserve(10)).requestId);
  await team.reserve(10);
  const named = { glossaryId: 'G', teamId: team.teamId, name: 'n', sourceLang: 'EN', targetLang: 'DE' };
  await store.glossaries.create(singleGlossary({ ...named, entries: { a: 'b' } }));
  database = new DatabaseSync(file.path, { timeout: 5000 });
});

afterAll(async () => {
  database.close();
  await file.remove();
});

/** A constraint that lists three values or more builds a table for every row, which takes longer than writing it. */
test.each([
  ['remembered', 'INSERT INTO operations VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)'],
  ['resolved', 'UPDATE operations SET state = ?, until_ms = ? WHERE request_id = ? AND team = ? AND state = 0'],
])('an id is %s without building a table for it', (_what, statement) => {
  const steps = database.prepare(`EXPLAIN ${statement}`).all();
  expect(steps.length).toBeGreaterThan(10);
  expect(steps.map(({ opcode }) => opcode)).not.toContain('OpenEphemeral');
});

describe('a row that breaks the accounts is refused by the database itself', () => {
  test.each([
    ['a negative balance', 'UPDATE books SET balance_micro = -1'],
    ['more held than the balance', 'UPDATE books SET held_micro = balance_micro + 1'],
    ['negative held characters', 'UPDATE books SET held_characters = -1'],
    ['negative used characters', 'UPDATE books SET used_characters = -1'],
    ['a fraction of a character', 'UPDATE books SET used_characters = 0.5'],
    ['an amount that JavaScript cannot hold', 'UPDATE books SET used_characters = 9007199254740992'],
    ['a rate of 0', 'UPDATE teams SET requests_per_second = 0'],
    ['an unknown billing', "UPDATE teams SET billing = 'barter'"],
    ['an unknown mode', "UPDATE keys SET mode = 'demo'"],
    ['an unknown state', 'UPDATE operations SET state = 4'],
    ['an open reservation without a key', 'UPDATE operations SET key = NULL'],
    ['negative counts of a key', 'UPDATE key_books SET characters = -1'],
    ['counts of an unknown key', 'UPDATE key_books SET key = 99'],
    ['negative usage', 'INSERT INTO usage SELECT team, period_no, key, -1, 1 FROM key_books'],
    ['usage without a request', 'INSERT INTO usage SELECT team, period_no, key, 1, 0 FROM key_books'],
    ['usage of an unknown key', 'INSERT INTO usage SELECT team, period_no, 99, 1, 1 FROM key_books'],
    ['a window that is too long', 'UPDATE books SET window = zeroblob(20000)'],
    ['a key of an unknown team', 'UPDATE keys SET team = 99'],
    ['a team without its periods', 'DELETE FROM periods'],
    ['a period that ends before it begins', 'UPDATE periods SET end_ms = start_ms'],
    ['a record of an unknown team', 'UPDATE records SET team = 99'],
    ['a blob of an unknown team', 'UPDATE blobs SET team = 99'],
    ['a blob with negative pieces', 'UPDATE blobs SET piece_count = -1'],
  ])('%s', (_what, sql) => {
    expect(() => database.exec(sql)).toThrow(/constraint failed|cannot store/);
  });

  test('two keys with one digest', async () => {
    const key = freshKey(team.teamId);
    answered(await store.teams.createKey(key));
    await expect(store.teams.createKey({ ...freshKey(team.teamId), digest: key.digest })).rejects.toThrow(/exists already/);
    expect(await store.teams.listKeys(team.teamId)).toHaveLength(2);
  });
});

describe('credit that would exceed its bounds is refused, and nothing changes', () => {
  const plan = { name: 'p', limits: { ...GENEROUS_QUOTA, requestsPerSecond: 7 } };
  test.each([
    ['more than an integer holds', { addMicro: Number.MAX_SAFE_INTEGER, plan }],
    ['half a millionth', { addMicro: 0.5 }],
    ['taking what is reserved', { addMicro: -981, name: 'Other' }, { kind: 'credit_not_free', freeMicro: 980 }],
  ])('%s', async (_what, change, refusal: object = { kind: 'balance_out_of_bounds' }) => {
    const before = answered(await store.teams.findTeam(team.teamId));
    expect(await store.teams.updateTeam(team.teamId, change)).toEqual(refusal);
    expect(await store.teams.findTeam(team.teamId)).toEqual(before);
  });
});

describe('numbers that no plan may have are a bug of the caller, and nothing changes', () => {
  test.each([
    ['a rate of 0', { plan: { name: 'p', limits: { ...GENEROUS_QUOTA, requestsPerSecond: 0 } } }, /cannot be stored: its numbers/],
    ['half a character', { plan: { name: 'p', limits: { ...GENEROUS_QUOTA, characterLimit: 0.5 } } }, /cannot be stored: its numbers/],
    ['an invalid period', { plan: { name: 'p', limits: { ...GENEROUS_QUOTA, period: 'monthly' } } }, /"monthly" is not a period/],
  ])('%s', async (_what, change, message) => {
    const before = answered(await store.teams.findTeam(team.teamId));
    await expect(store.teams.updateTeam(team.teamId, change)).rejects.toThrow(message);
    expect(await store.teams.findTeam(team.teamId)).toEqual(before);
  });
});
