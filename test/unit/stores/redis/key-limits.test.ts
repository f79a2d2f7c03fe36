// Keys with limits in Redis: what they cost, and their state.
import type { Redis } from 'ioredis';
import { beforeEach, expect, test } from 'vitest';
import { answered } from '../../../../src/domain/store-unavailable.ts';
import type { PluginStore } from '../../../../src/ports/plugin.ts';
import type { KeyChange } from '../../../../src/ports/team-registry.ts';
import { teamKeys } from '../../../../src/stores/redis/redis-keys.ts';
import { emptyRedis } from '../../../support/redis-of-file.ts';
import { KEY, TEAM, asking, furnish, stillClock } from './fixture.ts';

const keys = teamKeys(TEAM);
const redis = emptyRedis();
let client: Redis;
let store: PluginStore;
let clock: ReturnType<typeof stillClock>;

beforeEach(async () => {
  ({ client } = redis);
  clock = stillClock();
  store = await redis.open({ clock });
  await furnish(store);
});

const change = async (given: KeyChange) => answered(await store.teams.updateKey(KEY, given))!;
const limit = (limits: KeyChange['limits']) => change({ limits: limits! });
/** The first byte. */
const stateWord = async (): Promise<number> => (await client.hgetBuffer(keys.team, `k${KEY}`))![0]!;

test('the state of a key says whether it has limits or is disabled, and a key without either has no fields for them', async () => {
  expect(await stateWord()).toBe(1);
  await change({ label: 'only a label' });
  expect(await stateWord()).toBe(1);
  await limit({ characters: 5 });
  expect(await stateWord()).toBe(2);
  await change({ disabled: true, limits: { characters: null } });
  expect(await stateWord()).toBe(2);
  await change({ disabled: false });
  expect(await stateWord()).toBe(1);
  expect((await client.hkeys(keys.team)).filter((name) => /^[lw]:/.test(name))).toEqual([]);
  answered(await store.teams.revokeKey(KEY));
  await limit({ characters: 5 });
  expect(await stateWord()).toBe(0);
});

test('a key never holds more than its team, whose ids expire all at once', async () => {
  await limit({ characters: 100 });
  await store.ledger.admit(asking('r1', { characters: 60 }));
  // As if a reservation of 40 characters had expired with the ids.
  const counts = (await client.hgetBuffer(keys.team, `w:${KEY}`))!;
  expect(counts.readUIntBE(5, 6)).toBe(60);
  counts.writeUIntBE(100, 5, 6);
  await client.hset(keys.team, `w:${KEY}`, counts);
  expect(await store.ledger.admit(asking('r2', { characters: 41 }))).toMatchObject({
    kind: 'quota_exceeded',
    characterLimit: 100,
    of: 'key',
  });
  expect(await store.ledger.resolve(TEAM, 'r1', 'release')).toEqual({ kind: 'released' });
  expect(await store.ledger.admit(asking('r3', { characters: 100 }))).toMatchObject({ kind: 'admitted' });
});

test('a key without limits takes no more commands than before, even beside limited ones; a limited one takes one more read', async () => {
  const other = { keyId: 'K2', teamId: TEAM, digest: 'K2', display: 'la_live_2222', label: '', mode: 'live' } as const;
  const cost = async (keyId: string, name: string): Promise<number> => {
    // What is done only once.
    await store.ledger.admit(asking(`${name}0`, { keyId }));
    await client.config('RESETSTAT');
    // So that its last use changes.
    clock.move(1);
    await store.ledger.admit(asking(`${name}1`, { keyId }));
    const stats = await client.info('commandstats');
    const calls = [...stats.matchAll(/^cmdstat_(?!fcall|config|info)[^:]+:calls=(\d+)/gm)];
    return calls.reduce((sum, [, count]) => sum + Number(count), 0);
  };
  answered(await store.teams.createKey(other));
  const alone = await cost(KEY, 'a');
  answered(await store.teams.updateKey('K2', { limits: { requestsPerSecond: 50, characters: 1000 } }));
  expect(await cost(KEY, 'b')).toBe(alone);
  expect(await cost('K2', 'c')).toBe(alone + 1);
});
