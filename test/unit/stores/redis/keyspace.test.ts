// The keys in Redis: in which slot a team's keys are, and how long they are kept.
import type { Redis } from 'ioredis';
import { beforeEach, describe, expect, test } from 'vitest';
import { REMEMBER_MS } from '../../../../src/domain/reservation.ts';
import { answered } from '../../../../src/domain/store-unavailable.ts';
import type { PluginStore } from '../../../../src/ports/plugin.ts';
import { SEARCHED_KEY, TEAMS_KEY, teamKeys, teamSlot } from '../../../../src/stores/redis/redis-keys.ts';
import { singleGlossary } from '../../../../src/testing/store/dictionaries-under-test.ts';
import { emptyRedis, redisOfFile } from '../../../support/redis-of-file.ts';
import { QUOTA, TEAM, asking, furnish, stillClock } from './fixture.ts';

const keys = teamKeys(TEAM);
const { plainClient, redisServer } = redisOfFile();
const redis = emptyRedis();
let client: Redis;
let store: PluginStore;
let clock: ReturnType<typeof stillClock>;

beforeEach(async () => {
  ({ client } = redis);
  clock = stillClock();
  store = await redis.open({ clock });
});

describe('the keys in Redis', () => {
  test('of a team are in one slot, which the driver computes as Redis does', async () => {
    await furnish(store);
    answered(
      await store.glossaries.create(
        singleGlossary({ glossaryId: 'G1', teamId: TEAM, name: 'n', sourceLang: 'EN', targetLang: 'DE', entries: { a: 'b' } }),
      ),
    );
    await store.ledger.admit(asking('r1'));
    await store.ledger.resolve(TEAM, 'r1', 'commit');
    await store.ledger.admit(asking('r2', { leaseMs: 1000 }));
    const names = (await client.keys('*')).filter((name) => name.includes(`{${TEAM}}`));
    const kinds = names.map((name) => name.slice(name.lastIndexOf('}') + 1)).toSorted();
    expect(kinds).toEqual([
      ':blob:G1',
      ':blobs',
      ':days',
      ':glossaries',
      ':ids',
      ':keys',
      ':late',
      ':pairs',
      ':places',
      ':team',
      ':totals',
    ]);
    const slots = await slotsOf(names);
    expect(new Set(slots)).toEqual(new Set([teamSlot(TEAM)]));
    // One script writes the list of all teams and their names.
    expect(new Set(await slotsOf([TEAMS_KEY, SEARCHED_KEY])).size).toBe(1);
  });

  test('get the names of teams of an older dataset with the first search', async () => {
    await furnish(store);
    await client.del(SEARCHED_KEY);
    const found = answered(await store.teams.pageTeams({ after: undefined, limit: 1, search: TEAM.slice(1) }));
    expect(found.map(({ teamId }) => teamId)).toEqual([TEAM]);
    expect(await client.hget(SEARCHED_KEY, 'teams')).toBe('1');
  });

  test('of an idle team are only its record and its keys, with their settled counts', async () => {
    await furnish(store);
    await store.ledger.admit(asking('r1', { leaseMs: 600_000 }));
    await store.ledger.admit(asking('r2', { leaseMs: 1000 }));
    await store.ledger.resolve(TEAM, 'r2', 'commit');
    for (const name of [keys.ids, keys.places, keys.late]) {
      // At most the lease, the time for which its id is remembered, and about two minutes.
      expect(await client.pttl(name)).toBeGreaterThan(600_000 + REMEMBER_MS);
      expect(await client.pttl(name)).toBeLessThan(600_000 + REMEMBER_MS + 120_000);
    }
    for (const name of [keys.team, keys.keys]) expect(await client.pttl(name)).toBe(-1);
    await client.del(keys.ids, keys.places, keys.late);
    expect(await store.teams.usage(TEAM)).toMatchObject({ characters: 10, keys: [{ characters: 10, requests: 1 }] });
  });

  test('have nothing left of a removed glossary', async () => {
    await furnish(store);
    const before = await client.keys('*');
    answered(
      await store.glossaries.create(
        singleGlossary({ glossaryId: 'G1', teamId: TEAM, name: 'n', sourceLang: 'EN', targetLang: 'DE', entries: { a: 'b' } }),
      ),
    );
    expect(await store.glossaries.remove(TEAM, 'G1')).toBe(true);
    expect((await client.keys('*')).toSorted()).toEqual(before.toSorted());
  });

  test('renew their time to live while the team is busy', async () => {
    const busy = await redis.open({ clock });
    await furnish(busy);
    for (let i = 0; i < 20; i++) {
      clock.move(30_000);
      const renewedAtMs = performance.now();
      await busy.ledger.admit(asking(`r${i}`));
      await busy.ledger.resolve(TEAM, `r${i}`, 'release');
      for (const name of [keys.ids, keys.places]) {
        const [ttl, used] = [await client.pttl(name), 30_000];
        // By the server's own time, which goes on meanwhile.
        expect(ttl).toBeGreaterThan(60_000 + REMEMBER_MS - 1000 - (performance.now() - renewedAtMs));
        // The server's clock stands still for the test, so the elapsed time is subtracted by hand.
        await client.pexpire(name, ttl - used);
      }
    }
  });

  test('have a bounded number of ids, however many requests there were', async () => {
    const perSecond = 20;
    const busy = await redis.open({ clock });
    await furnish(busy, { ...QUOTA, requestsPerSecond: perSecond, characterLimit: 1e9 });
    for (let second = 0; second < 60; second++) {
      const ids = Array.from({ length: perSecond }, (_, i) => `${second}-${i}`);
      const answers = await Promise.all(ids.map(async (id) => busy.ledger.admit(asking(id))));
      expect(new Set(answers.map(({ kind }) => kind))).toEqual(new Set(['admitted']));
      await Promise.all(ids.map(async (id) => busy.ledger.resolve(TEAM, id, second % 7 === 0 ? 'release' : 'commit')));
      clock.move(1000);
    }
    // Those of 15 seconds, and the rest of an incomplete batch.
    const most = 15 * perSecond + 2 * 128;
    expect(await client.hlen(keys.ids)).toBeLessThan(most);
    expect(await client.llen(keys.places)).toBeLessThan(most);
    expect(await client.zcard(keys.late)).toBe(0);
  });

  test('keep what is open while everything around it is forgotten', async () => {
    const busy = await redis.open({ clock });
    await furnish(busy, { ...QUOTA, requestsPerSecond: 5, characterLimit: 1e9 });
    await busy.ledger.admit(asking('slow', { leaseMs: 600_000 }));
    for (let i = 0; i < 200; i++) {
      clock.move(250);
      await busy.ledger.admit(asking(`r${i}`, { reserve: false }));
    }
    expect(await busy.ledger.resolve(TEAM, 'slow', 'commit')).toEqual({ kind: 'committed' });
    expect(await busy.teams.standing(TEAM)).toMatchObject({ usedCharacters: 10, heldCharacters: 0, openReservations: 0 });
  });

  test('keep the slots that a clock that steps back may count again', async () => {
    const limit = 40;
    const busy = await redis.open({ clock });
    await furnish(busy, { ...QUOTA, requestsPerSecond: limit, characterLimit: 1e9 });
    const admit = (name: string) => busy.ledger.admit(asking(name, { reserve: false }));
    for (let i = 0; i < limit; i++) await admit(`old${i}`);
    clock.move(20_000);
    // Checks the ids of the old slots, and forgets them.
    expect(await admit('new')).toMatchObject({ kind: 'admitted' });
    expect(await client.llen(keys.places)).toBe(limit);
  });

  test('remember an id that is admitted again by the call that forgets it', async () => {
    await furnish(store);
    for (let i = 0; i < 50; i++) await store.ledger.admit(asking(`r${i}`, { reserve: false }));
    clock.move(20_000);
    expect(await store.ledger.admit(asking('r0', { reserve: false }))).toMatchObject({ kind: 'admitted' });
    expect(await client.hlen(keys.ids)).toBeLessThan(10);
    expect(await store.ledger.admit(asking('r0', { reserve: false }))).toEqual({ kind: 'repeated' });
  });

  test('lose ids that were not used again once they have to make room', async () => {
    await furnish(store);
    for (let i = 0; i < 50; i++) await store.ledger.admit(asking(`a${i}`, { reserve: false }));
    clock.move(60_000);
    for (let i = 0; i < 60; i++) await store.ledger.admit(asking(`b${i}`, { reserve: false }));
    const names = (await client.hkeysBuffer(keys.ids)).map((name) => name.subarray(1).toString());
    expect(names.filter((name) => name.startsWith('a'))).toEqual([]);
    expect(names.filter((name) => name.startsWith('b'))).toHaveLength(60);
  });
});

async function slotsOf(names: readonly string[]): Promise<number[]> {
  const clustered = await redisServer(['--cluster-enabled', 'yes']);
  const asked = plainClient(clustered.port);
  return Promise.all(names.map(async (name) => Number(await asked.call('CLUSTER', 'KEYSLOT', name))));
}
