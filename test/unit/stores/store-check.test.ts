// The check of a store: it finds nothing in an intact store, not even under load, and finds and names each planted fault.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { DatabaseSyncOptions } from 'node:sqlite';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { TeamLimits } from '../../../src/domain/plan.ts';
import { ulidSource } from '../../../src/domain/ulid.ts';
import type { StoreFinding, WholeAccount } from '../../../src/ports/whole-accounts.ts';
import { MovableClock } from '../../../src/testing/movable-clock.ts';
import { GENEROUS_QUOTA } from '../../../src/testing/store/team-under-test.ts';
import { openRedisStore } from '../../../src/stores/redis/redis-store.ts';
import { blobOf, digestKey, groupKey, ownerKey, TEAMS_KEY } from '../../../src/stores/redis/redis-keys.ts';
import { FIELD } from '../../../src/stores/redis/team-fields.ts';
import { openWhole } from '../../../src/stores/open-reader.ts';
import { isDerived, recountAccount } from '../../../src/stores/store-check.ts';
import { writeCopy } from '../../../src/stores/sqlite/file-copy.ts';
import { openSqliteStore } from '../../../src/stores/sqlite/sqlite-store.ts';
import { checkedStore } from '../../support/checked-store.ts';
import type { Checked } from '../../support/checked-store.ts';
import { promisedStore } from '../../support/promised-store.ts';
import { startRedis } from '../../support/redis.ts';
import { fillRich, RICH } from '../../support/rich-store.ts';
import { SILENT } from '../../support/silent-log.ts';

async function check(url: string, settleMs = 0): Promise<Checked> {
  const checked = await checkedStore(url, settleMs);
  for (const { detail } of checked.findings) expect(detail).not.toMatch(/[\n\r]/);
  return checked;
}

/** What must be among the findings, with its team and key. */
type Expected = Partial<StoreFinding> & { readonly what: string };

const of = (teamId: string, what: string, detail?: string): Expected => ({ what, teamId, ...(detail === undefined ? {} : { detail }) });

/** Names those that are left after what follows from the rest was written again. */
async function leftOf(url: string, { findings }: Checked): Promise<readonly string[]> {
  const reader = await openWhole(url, 'read');
  for (const teamId of new Set(findings.filter(isDerived).map((one) => one.teamId!))) await recountAccount(reader, teamId);
  await reader.close();
  return (await check(url)).findings.map(({ what }) => what);
}

/** What is intact stays as it is when it is written again. */
async function expectSameWrittenAgain(url: string): Promise<void> {
  const reader = await openWhole(url, 'read');
  const none = (): never => expect.unreachable();
  for (const teamId of [quota, credit, RICH.idle]) {
    const before = await reader.account(teamId, none);
    await recountAccount(reader, teamId);
    const after = await reader.account(teamId, none);
    expect(inOrder(after!)).toEqual(inOrder(before!));
  }
  await reader.close();
  expect(await check(url)).toEqual({ counts: COUNTS, findings: [] });
}

/** Records and reservations come in any order. */
function inOrder(account: WholeAccount): WholeAccount {
  return {
    ...account,
    requests: account.requests.toSorted((a, b) => (a.requestId < b.requestId ? -1 : 1)),
    records: account.records.toSorted((a, b) => (a.table + a.id < b.table + b.id ? -1 : 1)),
  };
}

function expectFinding({ findings }: Checked, { detail, ...expected }: Expected): void {
  const match = { ...expected, ...(detail === undefined ? {} : { detail: expect.stringContaining(detail) as string }) };
  expect(findings).toContainEqual(expect.objectContaining(match));
}

const COUNTS = { teams: 3, keys: 8, glossaries: 2, documents: 0, documentBytes: 0 };
const { quota, credit, key, otherKey, limitedKey, openId } = RICH;

describe('on SQLite', () => {
  const directory = mkdtempSync(join(tmpdir(), 'lingate-check-'));
  const intact = join(directory, 'sound.db');
  let path: string;
  let count = 0;

  beforeAll(async () => {
    const clock = new MovableClock();
    const store = promisedStore(await openSqliteStore({ path: intact, log: SILENT, clock, commandTimeoutMs: 5000 }));
    await fillRich(store, clock);
    await store.close();
  });
  beforeEach(() => {
    path = join(directory, `${count++}.db`);
    writeCopy(intact, path);
  });
  afterAll(() => rmSync(directory, { recursive: true, force: true }));

  test('nothing is found in an intact store, and writing an account again changes nothing', async () => {
    expect(await check(`sqlite:${path}`)).toEqual({ counts: COUNTS, findings: [] });
    await expectSameWrittenAgain(`sqlite:${path}`);
  });

  const team = (id: string): string => `(SELECT no FROM teams WHERE team_id = '${id}')`;
  const firstPeriod = `number = 1 AND team = ${team(quota)}`;
  const running = (member: string, value: number): string =>
    `UPDATE teams SET period = json_set(period, '$.${member}', ${value}) WHERE team_id = '${quota}'`;
  const keyNo = (id: string): string => `(SELECT no FROM keys WHERE key_id = '${id}')`;
  const PLANTED: readonly (readonly [sql: string, expected: Expected])[] = [
    [`UPDATE accounts SET used_characters = used_characters + 1 WHERE team = ${team(quota)}`, of(quota, 'used')],
    [`UPDATE usage SET characters = characters + 1 WHERE key = ${keyNo(key)} AND period_no > 1`, of(quota, 'used')],
    [`UPDATE accounts SET balance_micro = -1 WHERE team = ${team(credit)}`, of(credit, 'balance')],
    [`UPDATE accounts SET balance_micro = balance_micro + 1 WHERE team = ${team(credit)}`, of(credit, 'credit')],
    [`UPDATE accounts SET balance_micro = 1 WHERE team = ${team(credit)}`, of(credit, 'held', 'of a balance of 1')],
    [`UPDATE operations SET key = 99 WHERE request_id = '${openId}'`, of(quota, 'reservation')],
    [`UPDATE operations SET characters = -1 WHERE request_id = '${openId}'`, of(quota, 'reservation')],
    [`UPDATE operations SET period_no = 77 WHERE request_id = '${openId}'`, of(quota, 'reservation')],
    [`UPDATE operations SET tickets = 'x' WHERE request_id = '${openId}'`, of(quota, 'team', 'cannot be read')],
    [running('number', 55), of(quota, 'reservation', 'unknown period')],
    [running('endMs', 1), of(quota, 'period')],
    [`UPDATE periods SET ended = json_set(ended, '$.endMs', 9e12) WHERE ${firstPeriod}`, { what: 'period', detail: 'ends after period' }],
    [`UPDATE periods SET ended = json_set(ended, '$.limits', json('{}')) WHERE ${firstPeriod}`, of(quota, 'limits')],
    [`INSERT INTO usage VALUES (${team(quota)}, ${keyNo(key)}, 1, 20000, 1, 0, 0, 0)`, of(quota, 'day')],
    [`UPDATE usage SET of_allowance = characters WHERE team = ${team(quota)} AND period_no = 1`, of(quota, 'period')],
    [`UPDATE teams SET record = json_set(record, '$.limits.requestsPerSecond', 0) WHERE team_id = '${quota}'`, { what: 'limits' }],
    [`UPDATE teams SET record = json_set(record, '$.limits.period', 'monthly') WHERE team_id = '${quota}'`, { what: 'limits' }],
    [`UPDATE records SET value = json_set(value, '$.bytes', 1) WHERE kind = 'totals' AND team = ${team(quota)}`, of(quota, 'glossary')],
    [
      `UPDATE records SET value = replace(value, '"targetLang":"FR","entryCount":1,', '"targetLang":"FR","entryCount":9,') WHERE kind = 'glossaries' AND team = ${team(quota)}`,
      of(quota, 'dictionary'),
    ],
    [`DELETE FROM pieces WHERE blob = '${RICH.dictionary}'`, of(quota, 'dictionary', 'has no entries')],
    [`DELETE FROM pieces WHERE blob = '${RICH.largeGlossary}' AND place = 1`, of(credit, 'dictionary')],
    [`DELETE FROM key_accounts WHERE key = ${keyNo(otherKey)}`, { what: 'key', keyId: otherKey }],
    [`UPDATE keys SET team = ${team(credit)} WHERE key_id = '${key}'`, { what: 'key', teamId: credit, keyId: key }],
    [`UPDATE usage SET team = 99 WHERE team = ${team(quota)}`, { what: 'stray', detail: 'usage' }],
    [`UPDATE operations SET team = 99 WHERE request_id = '${openId}' AND team = ${team(quota)}`, { what: 'stray', detail: 'operations' }],
    [
      `INSERT INTO pieces (team, blob, place, piece) VALUES (${team(quota)}, 'unheld', 0, CAST('"a":"b"' AS BLOB))`,
      of(quota, 'dictionary', 'unheld'),
    ],
    [`DELETE FROM accounts WHERE team = ${team(RICH.idle)}`, of(RICH.idle, 'team')],
    [
      `INSERT INTO records VALUES (${team(quota)}, 'tag_limits', 'acme', '{"disabled":false,"requestsPerSecond":5}')`,
      of(quota, 'tag', 'no record of what is used'),
    ],
    [
      `INSERT INTO records VALUES (${team(quota)}, 'tag_uses', 'acme',
         '{"tickets":5,"windows":[],"inPeriod":{"period":1,"used":0,"from":0},"slots":[]}');
       UPDATE operations SET tickets = '{"tag:acme":6}', tag = '{"name":"acme","distinctMax":9}' WHERE request_id = '${openId}'`,
      of(quota, 'tag', 'counted fewer requests'),
    ],
  ];

  test.each(PLANTED)('%s is found', async (sql, expected) => {
    const database = new DatabaseSync(path, { enableForeignKeyConstraints: false });
    database.exec(`PRAGMA ignore_check_constraints = ON`);
    const before = database.prepare('SELECT total_changes() AS n').get()?.['n'];
    database.exec(sql);
    expect(database.prepare('SELECT total_changes() AS n').get()?.['n']).not.toBe(before);
    database.close();
    const found = await check(`sqlite:${path}`);
    expectFinding(found, expected);
    const isMended = expected.what === 'used' || expected.what === 'glossary';
    if (isMended) expect(await leftOf(`sqlite:${path}`, found)).toEqual([]);
  });

  describe('of a deleted team whose usage was kept', () => {
    beforeEach(async () => {
      const store = await openSqliteStore({ path, log: SILENT, clock: new MovableClock(), commandTimeoutMs: 5000 });
      expect(await store.teams.deleteTeam(quota, { keepUsage: true })).toBe(true);
      await store.close();
    });

    test('nothing is found', async () => {
      const { counts, findings } = await check(`sqlite:${path}`);
      expect({ counts, findings }).toEqual({ counts: { ...COUNTS, teams: 2, keys: 1, glossaries: 1 }, findings: [] });
    });
  });

  test('overwritten pages are found', async () => {
    // Newer releases of Node forbid writing the schema by default.
    const database = new DatabaseSync(path, { enableForeignKeyConstraints: false, defensive: false } as DatabaseSyncOptions);
    database.exec(
      `PRAGMA writable_schema = ON; UPDATE sqlite_schema SET rootpage = (SELECT rootpage FROM sqlite_schema WHERE name = 'keys') WHERE name = 'keys_of_team'`,
    );
    database.close();
    await expect(check(`sqlite:${path}`)).rejects.toThrow(/is damaged; restore it from a backup/);
  });

  test('nothing is reported wrongly while the store is in use', async () => {
    const clock = { nowMs: () => Date.now() };
    const store = promisedStore(await openSqliteStore({ path: join(directory, 'serving.db'), log: SILENT, clock, commandTimeoutMs: 5000 }));
    const checked = await whileServing(store, () => check(`sqlite:${join(directory, 'serving.db')}`, 300));
    for (const { findings } of checked) expect(findings).toEqual([]);
    await store.close();
  });
});

describe('on Redis', () => {
  let server: Awaited<ReturnType<typeof startRedis>>;
  let client: Redis;
  let intact: Map<string, Buffer>;

  beforeAll(async () => {
    server = await startRedis();
    client = new Redis(server.port, '127.0.0.1', { protocol: 2 });
    const clock = new MovableClock();
    const store = promisedStore(await openRedisStore({ url: server.url, log: SILENT, clock, commandTimeoutMs: 5000 }));
    await fillRich(store, clock);
    await store.close();
    intact = new Map();
    for (const name of await client.keys('*')) intact.set(name, await client.dumpBuffer(name));
  });
  beforeEach(async () => {
    await client.flushdb();
    for (const [name, dump] of intact) await client.restore(name, 0, dump);
  });
  afterAll(async () => {
    client.disconnect();
    await server.stop();
  });

  test('nothing is found in an intact store, and writing an account again changes nothing', async () => {
    expect(await check(server.url)).toEqual({ counts: COUNTS, findings: [] });
    await expectSameWrittenAgain(server.url);
  });

  /** Changes a field of a team's hash, or of another one of its keys. */
  const change = async (teamId: string, field: string, with_: object, suffix = ''): Promise<void> => {
    const name = groupKey(teamId) + suffix;
    const known = JSON.parse((await client.hget(name, field))!) as object;
    await client.hset(name, field, JSON.stringify({ ...known, ...with_ }));
  };
  const LIMITS = { used: FIELD.used, ofKey: FIELD.usedBy(key), ofLimited: FIELD.usedBy(limitedKey) };
  const PLANTED: readonly (readonly [name: string, plant: () => Promise<unknown>, expected: Expected])[] = [
    ['a character that no key has used', () => change(quota, LIMITS.used, { used: 999_999 }), of(quota, 'used')],
    ['a character that only a key has used', () => change(quota, LIMITS.ofKey, { used: 999_999 }), of(quota, 'used')],
    ['a negative balance', () => change(credit, FIELD.balance, { micro: -1 }), of(credit, 'balance')],
    [
      'a balance that is less than what is held',
      () => change(credit, FIELD.balance, { micro: 1 }),
      of(credit, 'held', 'of a balance of 1'),
    ],
    ['a period that ends before it begins', () => change(quota, FIELD.period, { startMs: 8e15 }), of(quota, 'period')],
    ['held characters without a reservation', () => change(quota, LIMITS.used, { held: 99 }), of(quota, 'held')],
    ['a lost reservation', () => client.hdel(groupKey(quota), FIELD.open(openId)), of(quota, 'held')],
    [
      'characters that a key does not hold',
      () => change(quota, LIMITS.ofLimited, { held: 42 }),
      { what: 'held', teamId: quota, keyId: limitedKey, detail: 'holding 42 characters, its open reservations hold 41' },
    ],
    ['a key that no digest leads to', () => client.del(digestKey(RICH.digest)), { what: 'digest', teamId: quota, keyId: key }],
    [
      'a digest of an unknown key',
      () => client.set(digestKey('x'), JSON.stringify({ keyId: 'gone', teamId: quota, mode: 'live' })),
      { what: 'digest', teamId: quota, keyId: 'gone' },
    ],
    [
      'a digest with another mode',
      () => client.set(digestKey(RICH.digest), JSON.stringify({ keyId: key, teamId: quota, mode: 'test' })),
      { what: 'digest', keyId: key },
    ],
    [
      'a digest that leads to another team',
      () => client.set(digestKey(RICH.digest), JSON.stringify({ keyId: key, teamId: credit, mode: 'live' })),
      { what: 'digest', keyId: key },
    ],
    ['a digest that cannot be read', () => client.set(digestKey('x'), 'x'), { what: 'digest', detail: 'cannot be read' }],
    ['an id that leads to another team', () => client.set(ownerKey(key), credit), { what: 'owner', teamId: quota, keyId: key }],
    ['a missing owner of an id', () => client.del(ownerKey(key)), { what: 'owner', keyId: key }],
    ['an id of an unknown key', () => client.set(ownerKey('gone'), quota), { what: 'owner', keyId: 'gone' }],
    ['a team that is in no list', () => client.zrem(TEAMS_KEY, credit), of(credit, 'index')],
    ['a list with an unknown team', () => client.zadd(TEAMS_KEY, 9, 'gone'), { what: 'index', teamId: 'gone' }],
    ['a team that cannot be read', () => client.hset(groupKey(quota), FIELD.team, '{"teamId'), of(quota, 'team')],
    ['a key that cannot be read', () => client.hset(groupKey(quota), FIELD.key(key), 'x'), of(quota, 'team')],
    ['a counter that cannot be read', () => client.hset(groupKey(quota), LIMITS.used, '{'), of(quota, 'team')],
    ['invalid limits', () => change(quota, FIELD.team, { limits: { ...GENEROUS_QUOTA, requestsPerSecond: 0.5 } }), of(quota, 'limits')],
    ['a glossary with other pairs', () => client.hset(`${groupKey(quota)}:pairs`, RICH.glossary, 'EN|IT'), of(quota, 'glossary')],
    ['a glossary without pairs', () => client.hdel(`${groupKey(quota)}:pairs`, RICH.glossary), of(quota, 'glossary')],
    ['pairs without a glossary', () => client.hset(`${groupKey(quota)}:pairs`, 'gone', 'EN|IT'), of(quota, 'glossary', 'gone')],
    ['missing entries', () => client.del(groupKey(quota) + blobOf(RICH.dictionary)), of(quota, 'dictionary', 'has no entries')],
    [
      'other entries',
      () => client.lset(groupKey(quota) + blobOf(RICH.dictionary), 0, '"cat":"chat","dog":"chiens"'),
      of(quota, 'dictionary'),
    ],
    [
      'truncated entries',
      () => client.lset(groupKey(quota) + blobOf(RICH.dictionary), 0, '"cat":"ch'),
      of(quota, 'dictionary', 'cannot be read'),
    ],
    [
      'wrongly counted bytes',
      () => client.hset(`${groupKey(quota)}:totals`, 'glossaries', '{"count":1,"bytes":1,"order":1}'),
      of(quota, 'glossary'),
    ],
    ['no totals of its glossaries', () => client.del(`${groupKey(quota)}:totals`), of(quota, 'glossary', 'recorded with 0 glossaries')],
    [
      'days of an unknown key',
      () => client.hset(`${groupKey(quota)}:days`, '20000 1 gone characters', '5'),
      { what: 'day', teamId: quota, keyId: 'gone' },
    ],
    [
      'a closed period that ends after the start of the next',
      async () => {
        const [number = ''] = await client.hkeys(`${groupKey(quota)}:periods`);
        await change(quota, number, { endMs: 8e15 }, ':periods');
      },
      of(quota, 'period'),
    ],
  ];

  /** What leads to nothing, and a balance, follow from no record. */
  const LEFT = new Set([
    'a balance that is less than what is held',
    'a digest of an unknown key',
    'an id of an unknown key',
    'a list with an unknown team',
  ]);

  test.each(PLANTED)('%s is found, and mended if it follows from the rest', async (name, plant, expected) => {
    await plant();
    const found = await check(server.url);
    expectFinding(found, expected);
    if (isDerived({ detail: '', ...expected })) {
      const left = await leftOf(server.url, found);
      if (LEFT.has(name)) expect(left).toContain(expected.what);
      else expect(left).toEqual([]);
    }
  });

  test('nothing is found of a deletion that was interrupted once digests were removed', async () => {
    const deleted = { teamId: quota, keepUsage: true, createdAtMs: 0, balanceMicro: 0, plan: 'p', limits: GENEROUS_QUOTA };
    await client.hset(groupKey(quota), FIELD.deleted, JSON.stringify(deleted));
    await client.hdel(groupKey(quota), FIELD.team, FIELD.period);
    await client.del(digestKey(RICH.digest));
    expect((await check(server.url)).findings).toEqual([]);
  });

  test('nothing is reported wrongly while the store is in use', async () => {
    await client.flushdb();
    const store = promisedStore(await openRedisStore({ url: server.url, log: SILENT, commandTimeoutMs: 5000 }));
    const checked = await whileServing(store, () => check(server.url, 300));
    for (const { findings } of checked) expect(findings).toEqual([]);
    await store.close();
  });
});

const newId = ulidSource(Date.now);

/** Checks several times while teams are created and deleted, keys are revoked, glossaries change and requests are admitted and settled. */
async function whileServing(store: ReturnType<typeof promisedStore>, look: () => Promise<Checked>): Promise<Checked[]> {
  const limits: TeamLimits = {
    ...GENEROUS_QUOTA,
    requestsPerSecond: 1_000_000,
    maxCharactersPerRequest: 100,
    maxGlossaries: 10,
    characterLimit: 1e9,
    period: 'PT1S',
  };
  const ending = new AbortController();
  const ended = (): boolean => ending.signal.aborted;
  let made = 0;
  const worker = async (): Promise<void> => {
    while (!ended()) {
      const [teamId, keyId] = [newId(), newId()];
      await store.teams.createTeam({ teamId, name: `Team ${teamId}`, plan: 'p', limits, balanceMicro: 0 });
      const record = { keyId, teamId, digest: `digest-${keyId}`, display: 'la_live_Ab3d', label: '', mode: 'live' } as const;
      // Some keys hold characters before they get a limit, some lose it while they do.
      const limited = { characters: 1000, requestsPerSecond: 1000 };
      await store.teams.createKey({ ...record, limits: made % 2 === 0 ? limited : {} });
      for (let i = 0; i < 5 && !ended(); i++) {
        const requestId = newId();
        await store.ledger.admit({ requestId, teamId, keyId, characters: 3, reserve: true, leaseMs: 5000, glossary: undefined });
        if (i === 2) await store.teams.updateKey(keyId, { limits: made % 2 === 0 ? { characters: null } : limited });
        if (i % 3 > 0) await store.ledger.resolve(teamId, requestId, i % 3 === 1 ? 'commit' : 'release');
      }
      const dictionary = { dictionaryId: newId(), sourceLang: 'EN', targetLang: 'DE', entries: { a: 'b' } };
      await store.glossaries.create({ glossaryId: newId(), teamId, name: 'g', dictionaries: [dictionary] });
      await store.teams.updateTeam(teamId, { name: `Renamed ${teamId}` });
      await store.teams.revokeKey(keyId);
      if (made % 3 > 0) await store.teams.deleteTeam(teamId, { keepUsage: made % 3 === 1 });
      made++;
    }
  };
  const workers = Array.from({ length: 4 }, worker);
  const checked: Checked[] = [];
  for (let i = 1; i <= 3; i++) {
    await expect.poll(() => made).toBeGreaterThan(i * 5);
    checked.push(await look());
  }
  ending.abort();
  await Promise.all(workers);
  expect(checked.at(-1)!.counts.teams).toBeGreaterThan(1);
  return checked;
}
