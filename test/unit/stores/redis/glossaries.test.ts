// Glossaries in Redis: created and removed with one call each, entries read only on request, nothing half written.
import type { Redis } from 'ioredis';
import { beforeEach, describe, expect, test } from 'vitest';
import { answered } from '../../../../src/domain/store-unavailable.ts';
import type { NewGlossary } from '../../../../src/ports/glossary-store.ts';
import type { PluginStore } from '../../../../src/ports/plugin.ts';
import { entriesKey, teamKeys } from '../../../../src/stores/redis/redis-keys.ts';
import { functionLibrary } from '../../../../src/stores/redis/functions.ts';
import { entriesIn, singleGlossary } from '../../../../src/testing/store/dictionaries-under-test.ts';
import { emptyRedis, redisOfFile } from '../../../support/redis-of-file.ts';
import { QUOTA, TEAM, asking, furnish, functionCalls, snapshot } from './fixture.ts';

const LIMITS = { ...QUOTA, maxGlossaries: 10 };
const { clusterOfOne } = redisOfFile();
const redis = emptyRedis();
let client: Redis;
let store: PluginStore;

beforeEach(async () => {
  ({ client } = redis);
  store = await redis.open();
  await furnish(store, LIMITS);
});

function glossary(glossaryId: string): NewGlossary {
  return singleGlossary({ glossaryId, teamId: TEAM, name: 'Terms', sourceLang: 'EN', targetLang: 'DE', entries: { term: 'Begriff' } });
}

test('creating and removing take one script call each', async () => {
  await client.config('RESETSTAT');
  answered(await store.glossaries.create(glossary('G1')));
  expect(await functionCalls(client)).toBe(1);
  answered(await store.glossaries.remove(TEAM, 'G1'));
  expect(await functionCalls(client)).toBe(2);
});

test('a creation that is delivered twice gives one glossary and counts once', async () => {
  const creation = answered(await store.glossaries.create(glossary('G1')));
  expect(await store.glossaries.create(glossary('G1'))).toEqual(creation);
  expect(await store.glossaries.list(TEAM)).toHaveLength(1);
});

test('neither listing nor admission reads entries', async () => {
  answered(await store.glossaries.create(glossary('G1')));
  await client.set(entriesKey(TEAM, 'G1'), 'cannot be parsed');
  expect(await store.glossaries.list(TEAM)).toHaveLength(1);
  const reference = { glossaryId: 'G1', sourceLang: 'EN', targetLang: 'DE' };
  expect(await store.ledger.admit(asking('r1', { glossary: reference }))).toMatchObject({ kind: 'admitted' });
  const found = answered(await store.glossaries.entries(TEAM, 'G1'));
  expect(() => found?.entries).toThrow('JSON');
});

test('a full server creates and changes no glossary, and still removes them', async () => {
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

test('in a cluster they are in the slot of their team', async () => {
  const cluster = await redis.open({ url: (await clusterOfOne()).url });
  await furnish(cluster, LIMITS);
  expect(await cluster.glossaries.create(glossary('G1'))).toMatchObject({
    kind: 'created',
    glossary: { dictionaries: [{ entryCount: 1 }] },
  });
  expect(await entriesIn(cluster.glossaries, TEAM, 'G1')).toEqual({ term: 'Begriff' });
  expect(await cluster.glossaries.list(TEAM)).toHaveLength(1);
  expect(await cluster.glossaries.remove(TEAM, 'G1')).toBe(true);
});

test('one from before glossaries could have several dictionaries is read, used, changed and removed', async () => {
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
  expect(await entriesIn(store.glossaries, TEAM, 'G1')).toEqual({ term: 'Begriff' });
  expect(await store.glossaries.remove(TEAM, 'G1')).toBe(true);
  expect(await client.keys('*:entries:*')).toEqual([]);
});

test('a glossary created by POST /v1/glossaries has the same layout as always', async () => {
  answered(await store.glossaries.create(glossary('G1')));
  const { glossaries, pairs } = teamKeys(TEAM);
  expect(await client.hget(pairs, 'G1')).toBe('EN|DE');
  expect(await client.hget(glossaries, 'G1')).toMatch(/^1 \d+ \{"name":"Terms","sourceLang":"EN","targetLang":"DE","entryCount":1\}$/);
});

describe('a large dictionary', () => {
  const entries = Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`term ${i}`, 'x'.repeat(1000)]));
  const bytes = Object.entries(entries).reduce((sum, [term, translation]) => sum + term.length + translation.length, 0);
  const large = (glossaryId: string): NewGlossary =>
    singleGlossary({ glossaryId, teamId: TEAM, name: 'L', sourceLang: 'EN', targetLang: 'DE', entries });

  test('is written and read in pieces, on a connection that the ledger does not use, and then does not expire', async () => {
    await client.config('RESETSTAT');
    answered(await store.glossaries.create(large('G1')));
    expect(await client.pttl(entriesKey(TEAM, 'G1'))).toBe(-1);
    expect(await client.strlen(entriesKey(TEAM, 'G1'))).toBe(JSON.stringify(entries).length);
    await entriesIn(store.glossaries, TEAM, 'G1');
    const stats = await client.info('commandstats');
    for (const command of ['append', 'getrange']) {
      const calls = Number(new RegExp(`cmdstat_${command}:calls=(\\d+)`).exec(stats)?.[1]);
      expect(calls).toBeGreaterThanOrEqual(4);
    }
    expect(stats).not.toMatch(/cmdstat_get:/);
    const connections = String(await client.client('LIST'))
      .split('\n')
      .filter((line) => line.includes('name=lingate '));
    const by = (command: string) => connections.filter((line) => line.includes(`cmd=${command}`)).length;
    expect([connections.length, by('getrange')]).toEqual([2, 1]);
  });

  test('is gone a minute later if it was refused, or the process that wrote it died', async () => {
    expect(await store.glossaries.create(large('G1'), bytes - 1)).toMatchObject({ kind: 'bytes_reached' });
    const left = await client.pttl(entriesKey(TEAM, 'G1'));
    expect(left).toBeGreaterThan(0);
    expect(left).toBeLessThanOrEqual(60_000);
    expect(await store.glossaries.list(TEAM)).toEqual([]);
  });

  test('gives no glossary if some of its pieces are gone by then', async () => {
    const { team, glossaries, pairs } = teamKeys(TEAM);
    await client.set(entriesKey(TEAM, 'G1'), '{"a":"b"');
    const words = ['G1', 'EN|DE', '{}', '', '1', 'G1', '2', '', '9'];
    const reply = await client.call(
      'FCALL',
      `${functionLibrary().name}_create_glossary`,
      3,
      team,
      glossaries,
      pairs,
      '',
      String(Date.now() + 60_000),
      '',
      '',
      '',
      '',
      ...words,
    );
    expect(reply).toEqual([expect.any(Number), 'incomplete']);
    expect(await store.glossaries.list(TEAM)).toEqual([]);
  });
});

test('glossaries from before bytes were counted are counted by the first operation that needs their size', async () => {
  for (const id of ['G1', 'G2']) answered(await store.glossaries.create(glossary(id)));
  const { team } = teamKeys(TEAM);
  const forget = async () => {
    await client.hdel(team, 'glossary_bytes');
    await client.del(teamKeys(TEAM).team.replace(/:team$/, ':bytes'));
  };
  await forget();
  const each = 'term'.length + 'Begriff'.length;
  const made = await Promise.all(['G3', 'G4', 'G5'].map((id) => store.glossaries.create(glossary(id), 4 * each)));
  expect(made.map(({ kind }) => kind).toSorted()).toEqual(['bytes_reached', 'created', 'created']);
  expect(await client.hget(team, 'glossary_bytes')).toBe(String(4 * each));
  await forget();
  expect(await store.glossaries.remove(TEAM, 'G1')).toBe(true);
  const [record] = answered(await store.glossaries.list(TEAM));
  const change = { teamId: TEAM, ...record!, dictionaries: [] };
  expect(await store.glossaries.change(change, 1)).toMatchObject({ kind: 'changed' });
  expect(await client.hget(team, 'glossary_bytes')).toBe(String(2 * each));
});
