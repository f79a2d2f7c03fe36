// What lies in Redis: where a team's keys are, and how long they stay.
import type { Redis } from 'ioredis';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { REMEMBER_MS } from '../../../../src/domain/reservation.ts';
import type { Store } from '../../../../src/ports/store.ts';
import { teamKeys, teamSlot } from '../../../../src/stores/redis/redis-keys.ts';
import { openRedisStore } from '../../../../src/stores/redis/redis-store.ts';
import type { RedisServer } from '../../../support/redis.ts';
import { TEAM, asking, furnish, memoryLog, plainClient, redisServer, stillClock } from './fixture.ts';

const keys = teamKeys(TEAM);
let server: RedisServer;
let client: Redis;
let store: Store;
let clock: ReturnType<typeof stillClock>;

beforeAll(async () => {
  server = await redisServer();
  client = plainClient(server.port);
});

afterAll(() => client.disconnect());

beforeEach(async () => {
  await client.flushall();
  clock = stillClock();
  store = await openRedisStore({ url: server.url, log: memoryLog(), clock });
  return () => store.close();
});

describe('the keys in Redis', () => {
  test('of a team lie in one slot, which the driver computes as Redis does', async () => {
    await furnish(store);
    await store.glossaries.create({ glossaryId: 'G1', teamId: TEAM, name: 'n', sourceLang: 'EN', targetLang: 'DE', entries: { a: 'b' } });
    await store.ledger.admit(asking('r1'));
    await store.ledger.resolve(TEAM, 'r1', 'commit');
    await store.ledger.admit(asking('r2'));
    const names = (await client.keys('*')).filter((name) => name.includes('{'));
    const kinds = names.map((name) => name.slice(name.lastIndexOf('}') + 1)).toSorted();
    expect(kinds).toEqual([':due', ':entries:G1', ':glossaries', ':keys', ':open', ':pairs', ':seen', ':team', ':use:1', ':window']);
    const slots = await slotsOf(names);
    expect(new Set(slots)).toEqual(new Set([teamSlot(TEAM)]));
  });

  test('leave nothing behind of an idle team but its record, its keys and its counts', async () => {
    await furnish(store);
    await store.ledger.admit(asking('r1', { leaseMs: 600_000 }));
    await store.ledger.admit(asking('r2'));
    await store.ledger.resolve(TEAM, 'r2', 'commit');
    for (const name of [keys.open, keys.due, keys.seen]) {
      // Longer than the longest lease and remembrance together, yet it ends.
      expect(await client.pttl(name)).toBeGreaterThan(600_000 + REMEMBER_MS);
    }
    expect(await client.pttl(keys.window)).toBeGreaterThan(1000);
    for (const name of [keys.team, keys.keys, keys.team.replace(/team$/, 'use:1')]) expect(await client.pttl(name)).toBe(-1);
  });

  test('hold nothing more of a glossary that was removed', async () => {
    await furnish(store);
    const before = await client.keys('*');
    await store.glossaries.create({ glossaryId: 'G1', teamId: TEAM, name: 'n', sourceLang: 'EN', targetLang: 'DE', entries: { a: 'b' } });
    expect(await store.glossaries.remove(TEAM, 'G1')).toBe(true);
    expect((await client.keys('*')).toSorted()).toEqual(before.toSorted());
  });

  test('renew their time to live while the team is busy, also where a set was empty in between', async () => {
    await furnish(store);
    await store.ledger.admit(asking('r1'));
    await store.ledger.resolve(TEAM, 'r1', 'release');
    for (const name of [keys.open, keys.due, keys.seen]) await client.pexpire(name, 100_000);
    clock.move(600_000);
    await store.ledger.admit(asking('r2'));
    await store.ledger.resolve(TEAM, 'r2', 'release');
    await store.ledger.admit(asking('r3'));
    for (const name of [keys.open, keys.due, keys.seen]) expect(await client.pttl(name)).toBeGreaterThan(1_000_000);
  });

  test('forget ids in time', async () => {
    await furnish(store);
    await store.ledger.admit(asking('r1', { reserve: false }));
    expect(await client.zscore(keys.seen, 'r1')).not.toBeNull();
    clock.move(REMEMBER_MS);
    await store.ledger.admit(asking('r2', { reserve: false }));
    expect(await client.zrange(keys.seen, '0', '-1')).toEqual(['r2', '-']);
  });
});

async function slotsOf(names: readonly string[]): Promise<number[]> {
  const clustered = await redisServer(['--cluster-enabled', 'yes']);
  const asked = plainClient(clustered.port);
  try {
    return await Promise.all(names.map(async (name) => Number(await asked.call('CLUSTER', 'KEYSLOT', name))));
  } finally {
    asked.disconnect();
  }
}
