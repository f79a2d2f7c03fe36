// A file of the oldest supported schema is migrated to the current one when it is opened, with every number in it.
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ulid } from 'ulid';
import { dayOf } from '../../../../src/domain/period.ts';
import { answered } from '../../../../src/domain/store-unavailable.ts';
import { migrate } from '../../../../src/stores/sqlite/migrate.ts';
import { OLDEST_SCHEMA } from '../../../../src/stores/sqlite/schema-first.ts';
import { MIGRATIONS } from '../../../../src/stores/sqlite/schema-steps.ts';
import { MovableClock } from '../../../../src/testing/movable-clock.ts';
import { entriesIn, singleGlossary } from '../../../../src/testing/store/dictionaries-under-test.ts';
import { placesOf } from '../../../support/store-search.ts';
import { sqliteFile } from './sqlite-file.ts';
import type { SqliteFile } from './sqlite-file.ts';

const LEASE_MS = 60_000;
/** Slots taken 999 ms ago, 10 ms ago and now. */
const WINDOW = '0001dd07010a01';
const [TEAM, KEY, OTHER_KEY, OPEN_ID, DONE_ID] = Array.from({ length: 5 }, () => ulid()) as [string, string, string, string, string];

let file: SqliteFile;
let clock: MovableClock;

beforeEach(() => {
  file = sqliteFile();
  clock = new MovableClock();
  writeFirstSchema(clock.nowMs());
});

afterEach(() => file.remove());

/** A team in its second period, three requests of the last second, one of them still open. */
function writeFirstSchema(nowMs: number): void {
  const database = new DatabaseSync(file.path);
  database.exec('PRAGMA journal_mode = WAL');
  migrate(database, 'sqlite:test', { steps: MIGRATIONS.slice(0, 1) });
  const created = nowMs - 5000;
  database.exec(`
    INSERT INTO teams VALUES (1, '${TEAM}', 'Old', ${created}, 'p', 'quota', 3, 1000, 2, 500, 0, 0, 0, 'EUR', 'PT4S');
    INSERT INTO keys VALUES (1, '${KEY}', 1, 'd1', 'la_live_aaaa', 'one', 'live', ${created}, NULL);
    INSERT INTO keys VALUES (2, '${OTHER_KEY}', 1, 'd2', 'la_test_bbbb', 'two', 'test', ${created}, ${created + 1});
    INSERT INTO periods VALUES (1, 1, ${created}, ${created + 4000}), (1, 2, ${created + 4000}, ${created + 8000});
    INSERT INTO books VALUES (1, 7, 2, 2, ${created + 8000}, 30, 20, ${nowMs}, x'${WINDOW}');
    INSERT INTO key_books VALUES (1, 1, ${nowMs}, 2, 30, 2), (1, 2, 0, 0, 0, 0);
    INSERT INTO usage VALUES (1, 1, 1, 11, 1);
    INSERT INTO operations VALUES ('${OPEN_ID}', 1, 0, ${nowMs + LEASE_MS}, 1, 20, 2, 2), ('${DONE_ID}', 1, 1, ${nowMs + 10_000}, 1, 10, 0, 2);
    INSERT INTO glossaries VALUES (1, 'g', 1, 'n', ${created}, 1);
    INSERT INTO dictionaries VALUES (1, 'g', 1, 0, 'EN', 'DE', 1, '{"a":"b"}');
  `);
  database.close();
}

test('balances, counts, keys, glossaries, open reservations and remembered ids are unchanged', async () => {
  const store = await file.open({ clock });
  const keys = answered(await store.teams.listKeys(TEAM));
  expect(keys).toMatchObject([
    { keyId: KEY, status: 'active', lastUsedAtMs: clock.nowMs() },
    { keyId: OTHER_KEY, status: 'revoked', lastUsedAtMs: undefined },
  ]);
  expect(await store.teams.usage(TEAM)).toMatchObject({
    team: { name: 'Old', balanceMicro: 7, limits: { requestsPerSecond: 3, characterLimit: 500, period: 'PT4S' } },
    characters: 30,
    keys: [
      { characters: 30, requests: 2 },
      { characters: 0, requests: 0 },
    ],
  });
  expect(await store.teams.standing(TEAM)).toEqual({
    usedCharacters: 30,
    heldCharacters: 20,
    balanceMicro: 7,
    heldMicro: 2,
    openReservations: 1,
  });
  const pair = { sourceLang: 'EN', targetLang: 'DE' };
  const dictionaries = [{ dictionaryId: 'g', ...pair, entryCount: 1 }];
  expect(await store.glossaries.list(TEAM)).toEqual([
    { glossaryId: 'g', name: 'n', revision: 1, dictionaries, createdAtMs: clock.nowMs() - 5000 },
  ]);
  expect(await entriesIn(store.glossaries, TEAM, 'g')).toEqual({ a: 'b' });
  const next = singleGlossary({ glossaryId: 'h', teamId: TEAM, name: 'n', sourceLang: 'EN', targetLang: 'FR', entries: { c: 'd' } });
  expect(await store.glossaries.create(next, 3)).toMatchObject({ kind: 'bytes_reached' });
  expect(await store.glossaries.create(next, 4)).toMatchObject({ kind: 'created' });
  expect(await store.ledger.resolve(TEAM, DONE_ID, 'release')).toEqual({ kind: 'committed' });
  expect(await store.ledger.resolve(TEAM, OPEN_ID, 'commit')).toEqual({ kind: 'committed' });
  expect(await store.teams.standing(TEAM)).toEqual({
    usedCharacters: 50,
    heldCharacters: 0,
    balanceMicro: 5,
    heldMicro: 0,
    openReservations: 0,
  });
  expect(file.query('SELECT characters, requests FROM usage')).toEqual([{ characters: 11, requests: 1 }]);
  expect(file.query('PRAGMA integrity_check')).toEqual([{ integrity_check: 'ok' }]);
  expect(file.query('PRAGMA foreign_key_check')).toEqual([]);
});

test('the window is still full, and has a free slot when the oldest one in it expires', async () => {
  const store = await file.open({ clock });
  const asked = { teamId: TEAM, keyId: KEY, characters: 1, reserve: true, leaseMs: LEASE_MS, glossary: undefined };
  expect(await store.ledger.admit({ ...asked, requestId: ulid() })).toEqual({
    kind: 'rate_limited',
    limit: 3,
    retryAfterMs: 1,
    fullForMs: 0,
  });
  clock.step(1);
  expect(await store.ledger.admit({ ...asked, requestId: ulid() })).toMatchObject({ kind: 'admitted' });
  expect(await store.ledger.admit({ ...asked, requestId: ulid() })).toEqual({
    kind: 'rate_limited',
    limit: 3,
    retryAfterMs: 989,
    fullForMs: 988,
  });
});

test('its keys have no limits, and can be given some, against which what they have used and hold counts', async () => {
  const store = await file.open({ clock });
  const asked = { teamId: TEAM, keyId: KEY, characters: 51, reserve: true, leaseMs: LEASE_MS, glossary: undefined };
  expect(answered(await store.teams.listKeys(TEAM))).toMatchObject([{ limits: {} }, { limits: {} }]);
  answered(await store.teams.updateKey!(KEY, { limits: { characters: 100 } }));
  clock.step(1000);
  expect(await store.ledger.admit({ ...asked, requestId: ulid() })).toMatchObject({
    kind: 'quota_exceeded',
    of: 'key',
    characterLimit: 100,
  });
  expect(await store.ledger.admit({ ...asked, requestId: ulid(), characters: 50 })).toMatchObject({ kind: 'admitted' });
  answered(await store.teams.updateKey!(OTHER_KEY, { disabled: false, limits: { expiresAtMs: 1 } }));
  expect(answered(await store.teams.listKeys(TEAM))?.[1]).toMatchObject({ status: 'revoked', limits: { expiresAtMs: 1 } });
});

test('days are recorded from this version on, and periods from the first with a known plan', async () => {
  const store = await file.open({ clock });
  const today = dayOf(clock.nowMs());
  const days = async (): Promise<unknown> => answered(await store.history!.days(TEAM, { from: today - 5, to: today + 5 }))!.days;
  expect(await days()).toEqual([]);
  await store.ledger.resolve(TEAM, OPEN_ID, 'commit');
  expect(await days()).toEqual([{ day: today, keyId: KEY, characters: 20, requests: 1 }]);
  clock.step(3000);
  const startMs = clock.nowMs() - 4000;
  expect(await store.history!.periods(TEAM)).toMatchObject([
    { closed: false, characters: 0 },
    { number: 2, startMs, endMs: startMs + 4000, closed: true, plan: 'p', limits: { characterLimit: 500 }, characters: 50 },
  ]);
});

/** The step that added the column. */
const ERASURE_STEP = MIGRATIONS.findIndex((step) => typeof step === 'string' && step.includes('ADD COLUMN erasure'));

test('teams of a file from before teams could be deleted are not being deleted, and can be', async () => {
  const database = new DatabaseSync(file.path);
  migrate(database, 'sqlite:test', { steps: MIGRATIONS.slice(0, ERASURE_STEP) });
  expect(
    database
      .prepare('PRAGMA table_info(teams)')
      .all()
      .some(({ name }) => name === 'erasure'),
  ).toBe(false);
  database.close();
  const store = await file.open({ clock });
  expect(file.query('SELECT erasure FROM teams')).toEqual([{ erasure: 0 }]);
  expect(await store.teams.findTeam(TEAM)).toMatchObject({ name: 'Old' });
  expect(await store.ledger.resolve(TEAM, OPEN_ID, 'commit')).toEqual({ kind: 'committed' });
  expect(await store.teams.deleteTeam!(TEAM, { keepUsage: false })).toBe(true);
  const owned = ['teams', 'keys', 'key_books', 'books', 'periods', 'usage', 'usage_days', 'glossaries', 'dictionaries', 'operations'];
  for (const table of owned) expect([table, file.query(`SELECT * FROM ${table}`)]).toEqual([table, []]);
  const places = await placesOf(`sqlite:${file.path}`, [TEAM, KEY, OTHER_KEY, OPEN_ID, DONE_ID]);
  // Bytes that earlier steps have rewritten may remain in free pages until the file is compacted.
  expect(places.filter((place) => !place.includes(' in the bytes of '))).toEqual([]);
  expect(file.query('PRAGMA foreign_key_check')).toEqual([]);
});

test('a file of an even older schema is refused in one line, and left as it is', async () => {
  file.query(`PRAGMA user_version = ${OLDEST_SCHEMA - 1}`);
  await expect(file.open({ clock })).rejects.toThrow(
    `too old for this one (schema ${OLDEST_SCHEMA - 1}, the oldest that is read is ${OLDEST_SCHEMA}): migrate it with a version in between first.`,
  );
  expect(file.query('SELECT count(*) AS count FROM books')).toEqual([{ count: 1 }]);
});
