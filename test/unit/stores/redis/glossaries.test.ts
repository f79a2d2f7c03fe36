// What Redis makes of glossaries: one call each to create and remove, entries read only when asked for, nothing half written.
import type { Redis } from 'ioredis';
import { beforeEach, expect, test } from 'vitest';
import { answered } from '../../../../src/domain/store-unavailable.ts';
import type { NewGlossary } from '../../../../src/ports/glossary-store.ts';
import type { Store } from '../../../../src/ports/store.ts';
import { entriesKey, teamKeys } from '../../../../src/stores/redis/redis-keys.ts';
import { singleGlossary } from '../../../../src/testing/store/single-glossary.ts';
import { emptyRedis, redisOfFile } from '../../../support/redis-of-file.ts';
import { QUOTA, TEAM, asking, furnish, scriptRuns, snapshot } from './fixture.ts';

const LIMITS = { ...QUOTA, maxGlossaries: 10 };
const { clusterOfOne } = redisOfFile();
const redis = emptyRedis();
let client: Redis;
let store: Store;

beforeEach(async () => {
  ({ client } = redis);
  store = await redis.open();
  await furnish(store, LIMITS);
});

function glossary(glossaryId: string): NewGlossary {
  return singleGlossary({ glossaryId, teamId: TEAM, name: 'Terms', sourceLang: 'EN', targetLang: 'DE', entries: { term: 'Begriff' } });
}

test('to create and to remove is one script call each', async () => {
  await client.config('RESETSTAT');
  answered(await store.glossaries.create(glossary('G1')));
  expect(await scriptRuns(client)).toBe(1);
  answered(await store.glossaries.remove(TEAM, 'G1'));
  expect(await scriptRuns(client)).toBe(2);
});

test('a creation that is delivered again is the same glossary, and takes no second place', async () => {
  const creation = answered(await store.glossaries.create(glossary('G1')));
  expect(await store.glossaries.create(glossary('G1'))).toEqual(creation);
  expect(await store.glossaries.list(TEAM)).toHaveLength(1);
});

test('neither a list nor an admission reads entries', async () => {
  answered(await store.glossaries.create(glossary('G1')));
  await client.set(entriesKey(TEAM, 'G1'), 'what would break whoever reads it');
  expect(await store.glossaries.list(TEAM)).toHaveLength(1);
  const reference = { glossaryId: 'G1', sourceLang: 'EN', targetLang: 'DE' };
  expect(await store.ledger.admit(asking('r1', { glossary: reference }))).toMatchObject({ kind: 'admitted' });
  await expect(store.glossaries.entries(TEAM, 'G1')).rejects.toThrow('JSON');
});

test('a full server creates and changes none, and still removes', async () => {
  answered(await store.glossaries.create(glossary('G1')));
  const before = await snapshot(client);
  await client.config('SET', 'maxmemory', '1');
  try {
    expect(await store.glossaries.create(glossary('G2'))).toMatchObject({ kind: 'unavailable', cause: 'oom' });
    const change = { glossaryId: 'G1', teamId: TEAM, name: 'Other', revision: 1, dictionaries: [] };
    expect(await store.glossaries.change(change)).toMatchObject({ kind: 'unavailable', cause: 'oom' });
    expect(await snapshot(client)).toEqual(before);
    expect(await store.glossaries.remove(TEAM, 'G1')).toBe(true);
  } finally {
    await client.config('SET', 'maxmemory', '0');
  }
  expect(await store.glossaries.list(TEAM)).toEqual([]);
});

test('a cluster keeps them beside their team', async () => {
  const cluster = await redis.open({ url: (await clusterOfOne()).url });
  await furnish(cluster, LIMITS);
  expect(await cluster.glossaries.create(glossary('G1'))).toMatchObject({
    kind: 'created',
    glossary: { dictionaries: [{ entryCount: 1 }] },
  });
  expect(await cluster.glossaries.entries(TEAM, 'G1')).toEqual({ entries: { term: 'Begriff' } });
  expect(await cluster.glossaries.list(TEAM)).toHaveLength(1);
  expect(await cluster.glossaries.remove(TEAM, 'G1')).toBe(true);
});

test('one that was written before glossaries could hold several dictionaries is read, used, changed and removed', async () => {
  const json = '{"name":"Old","sourceLang":"EN","targetLang":"DE","entryCount":1}';
  const { glossaries, pairs, team } = teamKeys(TEAM);
  await client.hset(glossaries, 'G1', `1 1700000000000 ${json}`);
  await client.hset(pairs, 'G1', 'EN|DE');
  await client.set(entriesKey(TEAM, 'G1'), '{"term":"Begriff"}');
  await client.hset(team, 'glossary_order', '1');
  const dictionary = { dictionaryId: 'G1', sourceLang: 'EN', targetLang: 'DE', entryCount: 1 };
  const record = { glossaryId: 'G1', name: 'Old', revision: 1, dictionaries: [dictionary], createdAtMs: 1_700_000_000_000 };
  expect(await store.glossaries.list(TEAM)).toEqual([record]);
  const glossaryUse = { glossaryId: 'G1', sourceLang: 'EN', targetLang: 'DE' };
  expect(await store.ledger.admit(asking('r1', { glossary: glossaryUse }))).toMatchObject({ kind: 'admitted', dictionaryId: 'G1' });
  const added = { dictionaryId: 'D2', sourceLang: 'EN', targetLang: 'FR', entries: { a: 'b' } };
  const change = { glossaryId: 'G1', teamId: TEAM, name: 'New', revision: 1, dictionaries: [dictionary, added] };
  expect(await store.glossaries.change(change)).toMatchObject({ kind: 'changed', glossary: { revision: 2, name: 'New' } });
  expect(await client.hget(pairs, 'G1')).toBe('EN|DE EN|FR:D2');
  expect(await store.glossaries.entries(TEAM, 'G1')).toEqual({ entries: { term: 'Begriff' } });
  expect(await store.glossaries.remove(TEAM, 'G1')).toBe(true);
  expect(await client.keys('*:entries:*')).toEqual([]);
});

test('what POST /v1/glossaries makes lies as it always has', async () => {
  answered(await store.glossaries.create(glossary('G1')));
  const { glossaries, pairs } = teamKeys(TEAM);
  expect(await client.hget(pairs, 'G1')).toBe('EN|DE');
  expect(await client.hget(glossaries, 'G1')).toMatch(/^1 \d+ \{"name":"Terms","sourceLang":"EN","targetLang":"DE","entryCount":1\}$/);
});
