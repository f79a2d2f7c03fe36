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
import type { StoreFinding } from '../../../src/ports/store-contents.ts';
import { MovableClock } from '../../../src/testing/movable-clock.ts';
import { GENEROUS_QUOTA } from '../../../src/testing/store/team-under-test.ts';
import { openRedisStore } from '../../../src/stores/redis/redis-store.ts';
import { blobKey, digestKey, ownerKey, SEARCHED_KEY, teamKeys, TEAMS_KEY } from '../../../src/stores/redis/redis-keys.ts';
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

function expectFinding({ findings }: Checked, { detail, ...expected }: Expected): void {
  const match = { ...expected, ...(detail === undefined ? {} : { detail: expect.stringContaining(detail) as string }) };
  expect(findings).toContainEqual(expect.objectContaining(match));
}

const COUNTS = { teams: 3, keys: 8, glossaries: 2, documents: 0, documentBytes: 0 };
const { quota, credit, key, otherKey, creditKey, limitedKey, disabledKey, openId } = RICH;

describe('on SQLite', () => {
  const directory = mkdtempSync(join(tmpdir(), 'lingate-check-'));
  const sound = join(directory, 'sound.db');
  let path: string;
  let count = 0;

  beforeAll(async () => {
    const clock = new MovableClock();
    const store = promisedStore(await openSqliteStore({ path: sound, log: SILENT, clock, busyTimeoutMs: 5000 }));
    await fillRich(store, clock);
    await store.close();
  });
  beforeEach(() => {
    path = join(directory, `${count++}.db`);
    writeCopy(sound, path);
  });
  afterAll(() => rmSync(directory, { recursive: true, force: true }));

  test('nothing is found in an intact store', async () => {
    expect(await check(`sqlite:${path}`)).toEqual({ counts: COUNTS, findings: [] });
  });

  const team = (id: string): string => `(SELECT no FROM teams WHERE team_id = '${id}')`;
  const keyNo = (id: string): string => `(SELECT no FROM keys WHERE key_id = '${id}')`;
  const PLANTED: readonly (readonly [sql: string, expected: Expected])[] = [
    [`UPDATE books SET used_characters = used_characters + 1 WHERE team = ${team(quota)}`, { what: 'used', teamId: quota }],
    [`UPDATE usage SET characters = characters + 1 WHERE key = ${keyNo(key)} AND period_no > 1`, { what: 'used', teamId: quota }],
    [`UPDATE books SET balance_micro = -1 WHERE team = ${team(credit)}`, { what: 'balance', teamId: credit }],
    [`UPDATE books SET balance_micro = balance_micro + 1 WHERE team = ${team(credit)}`, { what: 'credit', teamId: credit }],
    [`UPDATE books SET balance_micro = 1 WHERE team = ${team(credit)}`, { what: 'held', teamId: credit, detail: 'of a balance of 1' }],
    [`UPDATE operations SET key = 99 WHERE request_id = '${openId}'`, { what: 'reservation', teamId: quota }],
    [`UPDATE operations SET characters = -1 WHERE request_id = '${openId}'`, { what: 'reservation', teamId: quota }],
    [`UPDATE operations SET period_no = 77 WHERE request_id = '${openId}'`, { what: 'reservation', teamId: quota }],
    [`UPDATE operations SET tickets = 'x' WHERE request_id = '${openId}'`, { what: 'team', teamId: quota, detail: 'cannot be read' }],
    [`UPDATE books SET period_no = 55 WHERE team = ${team(quota)}`, { what: 'team', teamId: quota, detail: 'cannot be read' }],
    [`UPDATE books SET period_end_ms = 1 WHERE team = ${team(quota)}`, { what: 'period', teamId: quota }],
    [`UPDATE periods SET end_ms = end_ms + 9e12 WHERE team = ${team(quota)} AND no = 1`, { what: 'period', detail: 'ends after period' }],
    [`UPDATE periods SET limits = '{}' WHERE team = ${team(quota)} AND no = 1`, { what: 'limits', teamId: quota }],
    [`INSERT INTO usage VALUES (${team(quota)}, ${keyNo(key)}, 1, 20000, 1, 0, 0, 0)`, { what: 'day', teamId: quota }],
    [`UPDATE usage SET of_allowance = characters WHERE team = ${team(quota)} AND period_no = 1`, { what: 'period', teamId: quota }],
    [`UPDATE books SET window = x'0000' WHERE team = ${team(quota)}`, { what: 'window', teamId: quota }],
    [`UPDATE teams SET record = json_set(record, '$.limits.requestsPerSecond', 0) WHERE team_id = '${quota}'`, { what: 'limits' }],
    [`UPDATE teams SET record = json_set(record, '$.limits.period', 'monthly') WHERE team_id = '${quota}'`, { what: 'limits' }],
    [
      `UPDATE records SET value = json_set(value, '$.bytes', 1) WHERE kind = 'totals' AND team = ${team(quota)}`,
      { what: 'glossary', teamId: quota },
    ],
    [
      `UPDATE records SET value = replace(value, '"FR",1,', '"FR",9,') WHERE kind = 'glossaries' AND team = ${team(quota)}`,
      { what: 'dictionary', teamId: quota },
    ],
    [`DELETE FROM pieces WHERE blob = '${RICH.dictionary}'`, { what: 'dictionary', teamId: quota, detail: 'has no entries' }],
    [`DELETE FROM pieces WHERE blob = '${RICH.largeGlossary}' AND place = 1`, { what: 'dictionary', teamId: credit }],
    [`DELETE FROM key_books WHERE key = ${keyNo(otherKey)}`, { what: 'key', keyId: otherKey }],
    [`UPDATE keys SET team = ${team(credit)} WHERE key_id = '${key}'`, { what: 'key', teamId: credit, keyId: key }],
    [`UPDATE usage SET team = 99 WHERE team = ${team(quota)}`, { what: 'stray', detail: 'usage' }],
    [
      `INSERT INTO pieces (team, blob, place, piece) VALUES (${team(quota)}, 'unheld', 0, CAST('"a":"b"' AS BLOB))`,
      { what: 'dictionary', teamId: quota, detail: 'unheld' },
    ],
    [`UPDATE key_books SET window = x'0000' WHERE key = ${keyNo(limitedKey)}`, { what: 'window', teamId: quota, keyId: limitedKey }],
    [
      `UPDATE keys SET record = json_set(record, '$.limits.characters', 0) WHERE key_id = '${limitedKey}'`,
      { what: 'key', keyId: limitedKey, detail: 'from 1 on' },
    ],
    [
      `UPDATE keys SET record = json_set(record, '$.limits.allowedAddresses', json('["10.0.0.0/33"]')) WHERE key_id = '${limitedKey}'`,
      { what: 'key', keyId: limitedKey, detail: 'invalid address range' },
    ],
    [`UPDATE keys SET record = json_set(record, '$.mode', 'test') WHERE key_id = '${creditKey}'`, { what: 'key', keyId: creditKey }],
    [`DELETE FROM books WHERE team = ${team(RICH.idle)}`, { what: 'team', teamId: RICH.idle }],
    [
      `INSERT INTO records VALUES (${team(quota)}, 'tag_limits', 'acme', '0 5 0')`,
      { what: 'tag', teamId: quota, detail: 'no record of what is used' },
    ],
    [
      `INSERT INTO records VALUES (${team(quota)}, 'tag_uses', 'acme', '5 1 0 0 0 0 0 0 -');
       UPDATE operations SET tickets = '{"tag:acme":6}', tag = '{"name":"acme","distinctMax":9}' WHERE request_id = '${openId}'`,
      { what: 'tag', teamId: quota, detail: 'counted fewer requests' },
    ],
  ];

  test.each(PLANTED)('%s is found', async (sql, expected) => {
    const database = new DatabaseSync(path, { enableForeignKeyConstraints: false });
    database.exec(`PRAGMA ignore_check_constraints = ON`);
    const before = database.prepare('SELECT total_changes() AS n').get()?.['n'];
    database.exec(sql);
    expect(database.prepare('SELECT total_changes() AS n').get()?.['n']).not.toBe(before);
    database.close();
    expectFinding(await check(`sqlite:${path}`), expected);
  });

  describe('of a deleted team whose usage was kept', () => {
    beforeEach(async () => {
      const store = await openSqliteStore({ path, log: SILENT, clock: new MovableClock(), busyTimeoutMs: 5000 });
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
    const store = promisedStore(await openSqliteStore({ path: join(directory, 'serving.db'), log: SILENT, clock, busyTimeoutMs: 5000 }));
    const checked = await whileServing(store, () => check(`sqlite:${join(directory, 'serving.db')}`, 300));
    for (const { findings } of checked) expect(findings).toEqual([]);
    await store.close();
  });
});

describe('on Redis', () => {
  let server: Awaited<ReturnType<typeof startRedis>>;
  let client: Redis;
  let sound: Map<string, Buffer>;

  beforeAll(async () => {
    server = await startRedis();
    client = new Redis(server.port, '127.0.0.1', { protocol: 2 });
    const clock = new MovableClock();
    const store = promisedStore(await openRedisStore({ url: server.url, log: SILENT, clock, commandTimeoutMs: 5000 }));
    await fillRich(store, clock);
    await store.close();
    sound = new Map();
    for (const name of await client.keys('*')) sound.set(name, await client.dumpBuffer(name));
  });
  beforeEach(async () => {
    await client.flushdb();
    for (const [name, dump] of sound) await client.restore(name, 0, dump);
  });
  afterAll(async () => {
    client.disconnect();
    await server.stop();
  });

  test('nothing is found in an intact store', async () => {
    expect(await check(server.url)).toEqual({ counts: COUNTS, findings: [] });
  });

  const keys = teamKeys(quota);
  const creditKeys = teamKeys(credit);
  /** Changes some bytes of a field. */
  const patch = async (name: string, field: string | Buffer, at: number, write: (bytes: Buffer) => void): Promise<void> => {
    const bytes = (await client.hgetBuffer(name, field))!;
    write(bytes.subarray(at));
    await client.hset(name, field, bytes);
  };
  const plus = (more: number) => (bytes: Buffer) => void bytes.writeDoubleBE(bytes.readDoubleBE(0) + more, 0);
  const idOfOpen = async (name: string): Promise<Buffer> => {
    const flat = (await client.callBuffer('HGETALL', name)) as Buffer[];
    return flat.find((id, i) => i % 2 === 0 && id.length > 1 && flat[i + 1]![0] === 0)!;
  };
  const PLANTED: readonly (readonly [name: string, plant: () => Promise<unknown>, expected: Expected])[] = [
    ['a character that no key has used', () => patch(keys.team, 'b', 24, plus(1)), { what: 'used', teamId: quota }],
    ['a character that only a key has used', () => patch(keys.team, `k${key}`, 17, plus(1)), { what: 'used', teamId: quota }],
    [
      'a negative balance',
      () => patch(creditKeys.team, 'b', 32, (bytes) => void bytes.writeDoubleBE(-1, 0)),
      { what: 'balance', teamId: credit },
    ],
    [
      'a balance that is less than what is held',
      () => patch(creditKeys.team, 'b', 32, (bytes) => void bytes.writeDoubleBE(1, 0)),
      { what: 'held', teamId: credit, detail: 'of a balance of 1' },
    ],
    [
      'a period that ends before it begins',
      () => patch(keys.team, 'b', 16, (bytes) => void bytes.writeDoubleBE(1, 0)),
      { what: 'period', teamId: quota },
    ],
    [
      'held characters without a reservation',
      () => patch(keys.ids, 'h', 0, (bytes) => void bytes.writeUInt8(99, 6)),
      { what: 'held', teamId: quota },
    ],
    [
      'an open reservation that never expires',
      async () => {
        await client.del(keys.places, keys.late);
      },
      { what: 'reservation', teamId: quota },
    ],
    ['a lost reservation', async () => client.hdel(keys.ids, await idOfOpen(keys.ids)), { what: 'held', teamId: quota }],
    ['a lost head', () => client.hdel(keys.ids, 'h'), { what: 'held', teamId: quota }],
    ['a slot that another program has added', () => client.rpush(keys.places, Buffer.alloc(22)), { what: 'window', teamId: quota }],
    [
      'characters that a key does not hold',
      () => patch(keys.team, `w:${limitedKey}`, 4, (bytes) => void bytes.writeUInt8(bytes[6]! + 1, 6)),
      { what: 'held', teamId: quota, keyId: limitedKey, detail: 'holding 42 characters, its open reservations hold 41' },
    ],
    [
      'slots of a key that do not count for it',
      () => patch(keys.team, `w:${limitedKey}`, 24, (bytes) => void bytes.fill(0, 0, 3)),
      { what: 'window', teamId: quota, keyId: limitedKey },
    ],
    [
      'a limit of half a character',
      () => patch(keys.team, `l:${limitedKey}`, 17, (bytes) => void bytes.writeDoubleBE(0.5, 0)),
      { what: 'key', teamId: quota, keyId: limitedKey, detail: 'from 1 on' },
    ],
    ['lost limits', () => client.hdel(keys.team, `l:${limitedKey}`), { what: 'key', teamId: quota, keyId: limitedKey }],
    [
      'limits of a key that is marked as having none',
      () => patch(keys.team, `k${disabledKey}`, 0, (bytes) => void bytes.writeUInt8(1, 0)),
      { what: 'key', teamId: quota, keyId: disabledKey },
    ],
    ['limits of an unknown key', () => client.hset(keys.team, 'l:gone', Buffer.alloc(25)), { what: 'key', teamId: quota, keyId: 'gone' }],
    ['a key without a state', () => client.hdel(keys.team, `k${otherKey}`), { what: 'key', teamId: quota, keyId: otherKey }],
    ['a state without a key', () => client.hdel(keys.keys, otherKey), { what: 'key', teamId: quota, keyId: otherKey }],
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
    ['a digest that cannot be read', () => client.set(digestKey(RICH.digest), 'x'), { what: 'digest', detail: 'cannot be read' }],
    ['a digest that would expire', () => client.expire(digestKey(RICH.digest), 1000), { what: 'expiry', keyId: key }],
    ['an id that leads to another team', () => client.set(ownerKey(key), credit), { what: 'owner', teamId: quota, keyId: key }],
    ['a missing owner of an id', () => client.del(ownerKey(key)), { what: 'owner', keyId: key }],
    ['an id of an unknown key', () => client.set(ownerKey('gone'), quota), { what: 'owner', keyId: 'gone' }],
    ['a team that is in no list', () => client.zrem(TEAMS_KEY, credit), { what: 'index', teamId: credit }],
    ['a list with an unknown team', () => client.zadd(TEAMS_KEY, 9, 'gone'), { what: 'index', teamId: 'gone' }],
    [
      'an outdated name in the search',
      async () => client.hset(SEARCHED_KEY, '0', (await client.hget(SEARCHED_KEY, '0'))!.replace('renamed', 'other')),
      { what: 'index', teamId: credit },
    ],
    ['keys of an unknown team', () => client.hset('lingate:{gone}:glossaries', 'a', 'b'), { what: 'stray', teamId: 'gone' }],
    ['a key of an unknown kind', () => client.set('lingate:{gone}:songs', 'x'), { what: 'stray', detail: 'songs' }],
    ['a record that would expire', () => client.expire(keys.team, 1000), { what: 'expiry', teamId: quota }],
    ['a record without a plan', () => client.hdel(keys.team, 'p'), { what: 'team', teamId: quota }],
    [
      'a record of another type',
      async () => {
        await client.del(keys.keys);
        await client.set(keys.keys, 'x');
      },
      { what: 'team', teamId: quota },
    ],
    ['invalid limits', () => patch(keys.team, 'p', 1, (bytes) => void bytes.writeDoubleBE(0.5, 0)), { what: 'limits', teamId: quota }],
    ['a glossary with other pairs', () => client.hset(keys.pairs, RICH.glossary, 'EN|IT'), { what: 'glossary', teamId: quota }],
    ['a glossary without pairs', () => client.hdel(keys.pairs, RICH.glossary), { what: 'glossary', teamId: quota }],
    ['pairs without a glossary', () => client.hset(keys.pairs, 'gone', 'EN|IT'), { what: 'glossary', teamId: quota, detail: 'gone' }],
    ['missing entries', () => client.del(blobKey(quota, RICH.dictionary)), { what: 'dictionary', teamId: quota, detail: 'has no entries' }],
    [
      'other entries',
      () => client.lset(blobKey(quota, RICH.dictionary), 1, '"cat":"chat","dog":"chien"'),
      { what: 'dictionary', teamId: quota },
    ],
    [
      'truncated entries',
      () => client.lset(blobKey(quota, RICH.dictionary), 1, '"cat":"ch'),
      { what: 'dictionary', teamId: quota, detail: 'cannot be read' },
    ],
    [
      'wrongly counted bytes',
      () => client.hset(keys.totals, 'glossaries', '{"count":1,"bytes":1,"order":1}'),
      { what: 'glossary', teamId: quota },
    ],
    [
      'no totals of its glossaries',
      () => client.del(keys.totals),
      { what: 'glossary', teamId: quota, detail: 'recorded with 0 glossaries' },
    ],
    ['a blob that no glossary holds', () => client.hset(keys.blobs, 'gone', '5'), { what: 'dictionary', teamId: quota, detail: 'gone' }],
    [
      'days that exceed the periods',
      async () => patch(keys.days, key, 27, (bytes) => void bytes.fill(0xff, 0, 3)),
      { what: 'day', teamId: quota },
    ],
    [
      'days of an unknown key',
      async () => client.hset(keys.days, 'gone', (await client.hgetBuffer(keys.days, key))!),
      { what: 'day', teamId: quota, keyId: 'gone' },
    ],
    [
      'a closed period that ends after the start of the next',
      async () => {
        const [number = ''] = await client.hkeys(keys.periods);
        await patch(keys.periods, number, 6, (bytes) => void bytes.fill(0xff, 0, 6));
      },
      { what: 'period', teamId: quota },
    ],
    [
      'a tag whose record of uses was dropped',
      () => client.hset(keys.tag_limits, 'acme', '0 5 0'),
      { what: 'tag', teamId: quota, detail: 'no record of what is used' },
    ],
  ];

  test.each(PLANTED)('%s is found', async (_name, plant, expected) => {
    await plant();
    expectFinding(await check(server.url), expected);
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
