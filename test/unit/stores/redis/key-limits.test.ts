// Keys with limits in Redis: what they cost, and how gateways of the version before limits treat them.
import type { Redis } from 'ioredis';
import { beforeEach, expect, test } from 'vitest';
import { answered } from '../../../../src/domain/store-unavailable.ts';
import type { PluginStore } from '../../../../src/ports/plugin.ts';
import type { KeyChange } from '../../../../src/ports/team-registry.ts';
import { PLAN_NUMBERS_KEY, teamKeys } from '../../../../src/stores/redis/redis-keys.ts';
import { emptyRedis } from '../../../support/redis-of-file.ts';
import { KEY, TEAM, asking, furnish, stillClock } from './fixture.ts';

const keys = teamKeys(TEAM);
/** The length of a key's state in the version before days. */
const OLD_STATE_BYTES = 33;
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

const change = async (given: KeyChange) => answered(await store.teams.updateKey!(KEY, given))!;
const limit = (limits: KeyChange['limits']) => change({ limits: limits! });
/** The first byte: a gateway of the version before limits takes every value but 1 for revoked. */
const stateWord = async (): Promise<number> => (await client.hgetBuffer(keys.team, `k${KEY}`))![0]!;
const isMarked = async (): Promise<boolean> => (await client.smembers(PLAN_NUMBERS_KEY)).includes('keyLimits');

test('running gateways of the version before limits take a limited or disabled key for revoked, and new ones refuse the dataset', async () => {
  expect([await stateWord(), await isMarked()]).toEqual([1, false]);
  await change({ label: 'only a label' });
  expect([await stateWord(), await isMarked()]).toEqual([1, false]);
  await limit({ characters: 5 });
  expect([await stateWord(), await isMarked()]).toEqual([2, true]);
  await change({ disabled: true, limits: { characters: null } });
  expect(await stateWord()).toBe(2);
  await change({ disabled: false });
  expect(await stateWord()).toBe(1);
  expect((await client.hkeys(keys.team)).filter((name) => /^[lw]:/.test(name))).toEqual([]);
  answered(await store.teams.revokeKey(KEY));
  await limit({ characters: 5 });
  expect(await stateWord()).toBe(0);
});

test('creating a key with limits marks the dataset, too', async () => {
  const key = { keyId: 'K2', teamId: TEAM, digest: 'K2', display: 'la_live_2222', label: '', mode: 'live' } as const;
  answered(await store.teams.createKey({ ...key, limits: { requestsPerSecond: 1 } }));
  expect(await isMarked()).toBe(true);
});

test('what an older gateway has settled no longer counts for the key: it never holds more than its team', async () => {
  await limit({ characters: 100 });
  await store.ledger.admit(asking('r1', { characters: 60 }));
  // As if the older gateway had ended a reservation of 40 characters only for the team.
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

test('a state written by an older gateway, without the day, is limited, freed and counted like any other', async () => {
  await store.ledger.admit(asking('r1', { characters: 7 }));
  await store.ledger.resolve(TEAM, 'r1', 'commit');
  const shorten = async () =>
    client.hset(keys.team, `k${KEY}`, (await client.hgetBuffer(keys.team, `k${KEY}`))!.subarray(0, OLD_STATE_BYTES));
  await shorten();
  await limit({ characters: 10, requestsPerSecond: 9 });
  await shorten();
  expect(await store.ledger.admit(asking('r2', { characters: 4 }))).toMatchObject({ kind: 'quota_exceeded', of: 'key' });
  expect(await store.ledger.admit(asking('r3', { characters: 3 }))).toMatchObject({ kind: 'admitted' });
  await store.ledger.resolve(TEAM, 'r3', 'commit');
  await shorten();
  await limit({ characters: null, requestsPerSecond: null });
  expect(answered(await store.teams.usage(TEAM))?.keys[0]).toMatchObject({ characters: 10, requests: 2, status: 'active', limits: {} });
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
  answered(await store.teams.updateKey!('K2', { limits: { requestsPerSecond: 50, characters: 1000 } }));
  expect(await cost(KEY, 'b')).toBe(alone);
  expect(await cost('K2', 'c')).toBe(alone + 1);
});
