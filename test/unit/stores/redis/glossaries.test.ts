// What Redis makes of glossaries: one call each to create and remove, entries read only when asked for, nothing half written.
import type { Redis } from 'ioredis';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { StoreError } from '../../../../src/domain/store-error.ts';
import type { NewGlossary } from '../../../../src/ports/glossary-store.ts';
import type { Store } from '../../../../src/ports/store.ts';
import { entriesKey } from '../../../../src/stores/redis/redis-keys.ts';
import { openRedisStore } from '../../../../src/stores/redis/redis-store.ts';
import type { RedisServer } from '../../../support/redis.ts';
import { QUOTA, TEAM, asking, furnish, memoryLog, ownAllSlots, plainClient, redisServer, scriptRuns, snapshot } from './fixture.ts';

const LIMITS = { ...QUOTA, maxGlossaries: 10 };
let server: RedisServer;
let client: Redis;
let store: Store;

beforeAll(async () => {
  server = await redisServer();
  client = plainClient(server.port);
});

afterAll(() => client.disconnect());

beforeEach(async () => {
  await client.flushall();
  store = await openRedisStore({ url: server.url, log: memoryLog() });
  await furnish(store, LIMITS);
  return () => store.close();
});

function glossary(glossaryId: string): NewGlossary {
  return { glossaryId, teamId: TEAM, name: 'Terms', sourceLang: 'EN', targetLang: 'DE', entries: { term: 'Begriff' } };
}

test('to create and to remove is one script call each', async () => {
  await client.config('RESETSTAT');
  await store.glossaries.create(glossary('G1'));
  expect(await scriptRuns(client)).toBe(1);
  await store.glossaries.remove(TEAM, 'G1');
  expect(await scriptRuns(client)).toBe(2);
});

test('a creation that is delivered again is the same glossary, and takes no second place', async () => {
  const creation = await store.glossaries.create(glossary('G1'));
  expect(await store.glossaries.create(glossary('G1'))).toEqual(creation);
  expect(await store.glossaries.list(TEAM)).toHaveLength(1);
});

test('neither a list nor an admission reads entries', async () => {
  await store.glossaries.create(glossary('G1'));
  await client.set(entriesKey(TEAM, 'G1'), 'what would break whoever reads it');
  expect(await store.glossaries.list(TEAM)).toHaveLength(1);
  const reference = { glossaryId: 'G1', sourceLang: 'EN', targetLang: 'DE' };
  expect(await store.ledger.admit(asking('r1', { glossary: reference }))).toMatchObject({ kind: 'admitted' });
  await expect(store.glossaries.entries(TEAM, 'G1')).rejects.toThrow('JSON');
});

test('a full server creates none, changes nothing, and still removes', async () => {
  await store.glossaries.create(glossary('G1'));
  const before = await snapshot(client);
  await client.config('SET', 'maxmemory', '1');
  try {
    await expect(store.glossaries.create(glossary('G2'))).rejects.toThrow(StoreError);
    expect(await snapshot(client)).toEqual(before);
    expect(await store.glossaries.remove(TEAM, 'G1')).toBe(true);
  } finally {
    await client.config('SET', 'maxmemory', '0');
  }
  expect(await store.glossaries.list(TEAM)).toEqual([]);
});

test('a cluster keeps them beside their team', async () => {
  const clustered = await redisServer(['--cluster-enabled', 'yes', '--cluster-announce-ip', '127.0.0.1']);
  const node = plainClient(clustered.port);
  try {
    await ownAllSlots(node);
    const cluster = await openRedisStore({ url: `redis+cluster://127.0.0.1:${clustered.port}`, log: memoryLog() });
    try {
      await furnish(cluster, LIMITS);
      expect(await cluster.glossaries.create(glossary('G1'))).toMatchObject({ kind: 'created', glossary: { entryCount: 1 } });
      expect(await cluster.glossaries.entries(TEAM, 'G1')).toEqual({ term: 'Begriff' });
      expect(await cluster.glossaries.list(TEAM)).toHaveLength(1);
      expect(await cluster.glossaries.remove(TEAM, 'G1')).toBe(true);
    } finally {
      await cluster.close();
    }
  } finally {
    node.disconnect();
  }
});
