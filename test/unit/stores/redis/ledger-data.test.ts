// What is in Redis: hashes that explain themselves, in the slot of their team; and the functions that write them.
import { beforeEach, describe, expect, test } from 'vitest';
import type { PluginStore } from '../../../../src/ports/plugin.ts';
import { functionLibrary } from '../../../../src/stores/redis/function-library.ts';
import { groupKey, teamSlot } from '../../../../src/stores/redis/redis-keys.ts';
import { emptyRedis, redisOfFile } from '../../../support/redis-of-file.ts';
import { asking, CREDIT, DIGEST, furnish, KEY, TEAM } from './fixture.ts';

const { clusterOfOne } = redisOfFile();
const redis = emptyRedis();
let store: PluginStore;

beforeEach(async () => {
  store = await redis.open();
});

async function use(ledger: PluginStore['ledger']): Promise<void> {
  const tag = { name: 'acme', distinctMax: 10 };
  await ledger.admit(asking('done', { tag }));
  await ledger.resolve(TEAM, 'done', 'commit', 7);
  await ledger.admit(asking('open', { tag }));
}

describe('a team', () => {
  test('is a hash whose fields are JSON, and say what they are', async () => {
    await furnish(store, { ...CREDIT, windows: 'requests=5/minute characters=1000/day' }, 1e9);
    await use(store.ledger);
    const fields = await redis.client.hgetall(groupKey(TEAM));
    const read = Object.fromEntries(Object.entries(fields).map(([name, text]) => [name, JSON.parse(text) as unknown]));
    expect(read).toMatchObject({
      team: {
        name: 'Team',
        plan: 'plan',
        limits: {
          windows: [
            { per: 'minute', requests: 5 },
            { per: 'day', characters: 1000 },
          ],
        },
      },
      period: { number: 1, addedMicro: 1e9, deductedMicro: 0 },
      balance: { micro: 1e9 - 7 * 2500, held: 10 * 2500 },
      [`key:${KEY}`]: { label: 'label', status: 'active' },
      'count:team:period': { period: 1, used: 7, held: 10, requests: 1 },
      'count:team:windows': {
        windows: [
          { per: 'minute', requests: 2 },
          { per: 'day', characters: 17 },
        ],
      },
      'open:open': { key: KEY, characters: 10, price: 25_000, period: 1, tag: { name: 'acme' } },
    });
    const days = await redis.client.hgetall(`${groupKey(TEAM)}:days`);
    expect(Object.entries(days).map(([name, value]) => [name.split(' ').slice(1).join(' '), value])).toEqual(
      expect.arrayContaining([
        [`1 ${KEY} characters`, '7'],
        [`1 ${KEY} requests`, '1'],
      ]),
    );
  });

  test('has all its keys in one slot, which the driver computes as Redis does', async () => {
    const { url, client } = await clusterOfOne();
    const clustered = await redis.open({ url });
    await furnish(clustered);
    await use(clustered.ledger);
    const names = (await client.keys('*')).filter((name) => name.includes(`{${TEAM}}`));
    expect(names.length).toBeGreaterThan(3);
    for (const name of names) expect(await client.cluster('KEYSLOT', name)).toBe(teamSlot(TEAM));
  });

  test('is known by digests of its keys, never by more of them than may be shown', async () => {
    await furnish(store);
    await use(store.ledger);
    expect(await store.keys.find(`${DIGEST}-${KEY}`)).toEqual({ keyId: KEY, teamId: TEAM, mode: 'live' });
    const names = await redis.client.keys('*');
    const texts = await Promise.all(names.map((name) => redis.client.dumpBuffer(name)));
    for (const text of [...names, ...texts.map(String)]) expect(text).not.toMatch(/la_(?:live|test)_[A-Za-z0-9]{5}/);
  });
});

describe('the library', () => {
  test('is loaded once, when a store is opened, and again by the next call if the server has lost it', async () => {
    await furnish(store);
    const listed = async () => JSON.stringify(await redis.client.call('FUNCTION', 'LIST'));
    expect(await listed()).toContain(functionLibrary().name);
    await redis.client.call('FUNCTION', 'FLUSH');
    expect(await store.ledger.admit(asking('r1'))).toMatchObject({ kind: 'admitted' });
    expect(await listed()).toContain(functionLibrary().name);
    expect(await store.teams.standing(TEAM)).toMatchObject({ openReservations: 1 });
  });

  test('does nothing after a deadline, or more than an hour before it', async () => {
    await furnish(store);
    const { name } = functionLibrary();
    const bounds = JSON.stringify({ minute: [0, 9e15], hour: [0, 9e15], day: [0, 9e15], week: [0, 9e15], month: [0, 9e15] });
    const teams = [[{ id: 'r1', key: KEY, reserve: 1, lease: 1000 }]];
    for (const clock of [1001, 1000 - 3_600_001]) {
      const call = JSON.stringify({ deadline: 1000, clock, teams });
      const answer = String(await redis.client.call('FCALL', `${name}_turn`, 1, groupKey(TEAM), call, bounds));
      expect(JSON.parse(answer)).toEqual({ now: clock, answers: [[{ kind: 'late' }]] });
    }
    expect(await store.teams.standing(TEAM)).toMatchObject({ openReservations: 0 });
  });
});
