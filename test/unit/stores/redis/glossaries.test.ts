// Glossaries in Redis: created and removed with one call each, entries read only on request, nothing half written.
import type { Redis } from 'ioredis';
import { beforeEach, describe, expect, test } from 'vitest';
import { answered } from '../../../../src/domain/store-unavailable.ts';
import type { NewGlossary } from '../../../../src/ports/glossary-store.ts';
import type { PluginStore } from '../../../../src/ports/plugin.ts';
import { blobKey, preparedKey, teamKeys } from '../../../../src/stores/redis/redis-keys.ts';
import { functionLibrary } from '../../../../src/stores/redis/functions.ts';
import { createdAs, entriesIn, singleGlossary } from '../../../../src/testing/store/dictionaries-under-test.ts';
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

test('creating and removing take two function calls each', async () => {
  await client.config('RESETSTAT');
  answered(await store.glossaries.create(glossary('G1')));
  expect(await functionCalls(client)).toBe(2);
  answered(await store.glossaries.remove(TEAM, 'G1'));
  expect(await functionCalls(client)).toBe(4);
});

test('a creation that is delivered twice gives one glossary and counts once', async () => {
  const creation = answered(await store.glossaries.create(glossary('G1')));
  expect(await store.glossaries.create(glossary('G1'))).toEqual(creation);
  expect(await store.glossaries.list(TEAM)).toHaveLength(1);
});

test('neither listing nor admission reads entries', async () => {
  answered(await store.glossaries.create(glossary('G1')));
  await client.lset(blobKey(TEAM, 'G1'), 1, 'cannot be parsed');
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

describe('a large dictionary', () => {
  const entries = Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`term ${i}`, 'x'.repeat(1000)]));
  const bytes = Object.entries(entries).reduce((sum, [term, translation]) => sum + term.length + translation.length, 0);
  const large = (glossaryId: string): NewGlossary =>
    singleGlossary({ glossaryId, teamId: TEAM, name: 'L', sourceLang: 'EN', targetLang: 'DE', entries });

  test('is written and read in pieces, on a connection that the ledger does not use, and then does not expire', async () => {
    await client.config('RESETSTAT');
    answered(await store.glossaries.create(large('G1')));
    expect(await client.pttl(blobKey(TEAM, 'G1'))).toBe(-1);
    expect(await client.llen(blobKey(TEAM, 'G1'))).toBe(6);
    await entriesIn(store.glossaries, TEAM, 'G1');
    const stats = await client.info('commandstats');
    for (const command of ['rpushx', 'lindex']) {
      const calls = Number(new RegExp(`cmdstat_${command}:calls=(\\d+)`).exec(stats)?.[1]);
      expect(calls).toBeGreaterThanOrEqual(4);
    }
    const connections = String(await client.client('LIST'))
      .split('\n')
      .filter((line) => line.includes('name=lingate '));
    const by = (command: string) => connections.filter((line) => line.includes(`cmd=${command}`)).length;
    expect([connections.length, by('lindex')]).toEqual([2, 1]);
  });

  test('is gone a minute later if it was refused, or the process that wrote it died', async () => {
    const { glossaryId } = await createdAs(store, glossary('G1'));
    const { dictionaries, ...change } = { ...large('G1'), glossaryId, revision: 1 };
    const added = dictionaries.map((one) => ({ ...one, dictionaryId: 'D1' }));
    expect(await store.glossaries.change({ ...change, dictionaries: added }, bytes - 1)).toMatchObject({ kind: 'bytes_reached' });
    const left = await client.pttl(preparedKey(TEAM, 'D1'));
    expect(left).toBeGreaterThan(0);
    expect(left).toBeLessThanOrEqual(60_000);
    expect(await store.glossaries.list(TEAM)).toMatchObject([{ glossaryId, revision: 1 }]);
  });

  test('gives no glossary if some of its pieces are gone by then', async () => {
    await client.rpush(preparedKey(TEAM, 'G1'), '"a":"b"');
    const steps = ['2', 'put', 'glossaries', 'G1', '{}', 'hold', 'G1', '2'];
    const head = ['', String(Date.now() + 60_000), '', '', '', ''];
    const name = `${functionLibrary().name}_change_records`;
    const reply = await client.call('FCALL', name, 1, teamKeys(TEAM).team, ...head, '', '', '0', ...steps);
    expect(reply).toEqual([expect.any(Number), 'incomplete']);
    expect(await store.glossaries.list(TEAM)).toEqual([]);
  });
});
