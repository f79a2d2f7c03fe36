// The janitor of the Redis store: it maintains idle teams, whichever process runs it, on data of any version.
import type { Redis } from 'ioredis';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { DAY_MS, dayOf } from '../../../../src/domain/period.ts';
import { answered } from '../../../../src/domain/store-unavailable.ts';
import type { PluginStore } from '../../../../src/ports/plugin.ts';
import { functionLibrary } from '../../../../src/stores/redis/functions.ts';
import { openRedisStore } from '../../../../src/stores/redis/redis-store.ts';
import { DUE_KEY, JANITOR_KEY, SEARCHED_KEY, teamKeys } from '../../../../src/stores/redis/redis-keys.ts';
import { emptyRedis, redisOfFile } from '../../../support/redis-of-file.ts';
import { promisedStore } from '../../../support/promised-store.ts';
import { SILENT } from '../../../support/silent-log.ts';
import { KEY, QUOTA, TEAM, asking, furnish, stillClock } from './fixture.ts';

const EVERY_MS = 10;
/** Only a failing test waits this long. */
const WAITED_MS = 20_000;
const keys = teamKeys(TEAM);
const SHORT = { ...QUOTA, period: 'PT10S' };
const MONTH = { ...QUOTA, period: 'P1M' };
const redis = emptyRedis();
const { clusterOfOne } = redisOfFile();
let client: Redis;
let store: PluginStore;
let clock: ReturnType<typeof stillClock>;

beforeEach(async () => {
  ({ client } = redis);
  clock = stillClock();
  store = await redis.open({ clock });
});

const janitor = (more = {}) => redis.open({ clock, tendEveryMs: EVERY_MS, ...more });

/** Waits until all teams are due later. It reads Redis directly, because a call of the store would do the janitor's work. */
async function settled(redisOf = client, teams = 1): Promise<void> {
  const areDueLater = async () => {
    const [all, later] = [await redisOf.zcard(DUE_KEY), await redisOf.zcount(DUE_KEY, `(${clock.nowMs()}`, clock.nowMs() + 2 * DAY_MS)];
    return all === teams && later === teams;
  };
  await vi.waitUntil(areDueLater, { timeout: WAITED_MS, interval: EVERY_MS });
}

async function use(of: PluginStore, characters: number, requestId: string): Promise<void> {
  expect(await of.ledger.admit(asking(requestId, { characters }))).toMatchObject({ kind: 'admitted' });
  expect(await of.ledger.resolve(TEAM, requestId, 'commit')).toEqual({ kind: 'committed' });
}

const closedNumbers = async (): Promise<string[]> => (await client.hkeys(keys.periods)).toSorted();

describe('the janitor', () => {
  test('corrects a name in the search index after a process stopped in the middle of a renaming', async () => {
    await furnish(store);
    await client.hset(SEARCHED_KEY, '0', `0 ${TEAM} the name before\n`);
    await janitor();
    const found = async (search: string) => answered(await store.teams.pageTeams({ after: undefined, limit: 1, search }));
    await vi.waitUntil(async () => (await found('before')).length === 0, { timeout: WAITED_MS, interval: EVERY_MS });
    const { name } = answered(await store.teams.findTeam(TEAM))!;
    expect(await found(name)).toHaveLength(1);
  });

  test("closes an idle team's period and begins the next", async () => {
    await furnish(store, SHORT);
    await use(store, 7, 'r1');
    await janitor();
    await settled();
    expect(await closedNumbers()).toEqual([]);
    clock.move(10_000);
    await settled();
    expect(await closedNumbers()).toEqual(['1']);
    expect(await client.keys(`${keys.team.replace(/team$/, '')}use:*`)).toEqual([]);
    const before = await client.hgetBuffer(keys.periods, '1');
    clock.move(50_000);
    await settled();
    expect(await client.hgetallBuffer(keys.periods)).toEqual({ 1: before });
  });

  test('closes a period only when its open reservations are settled or expired', async () => {
    await furnish(store, SHORT);
    await use(store, 7, 'r1');
    await store.ledger.admit(asking('r2', { characters: 10 }));
    await store.ledger.admit(asking('r3', { characters: 10, leaseMs: 30_000 }));
    await janitor();
    clock.move(10_000);
    await settled();
    expect(await closedNumbers()).toEqual([]);
    // The team is due again soon.
    expect(Number(await client.zscore(DUE_KEY, TEAM))).toBe(clock.nowMs() + 2000);
    await store.ledger.resolve(TEAM, 'r2', 'commit');
    clock.move(2000);
    await settled();
    expect(await closedNumbers()).toEqual([]);
    clock.move(18_000);
    await settled();
    expect(await closedNumbers()).toEqual(['1']);
    const [, period] = answered(await store.history.periods(TEAM))!;
    expect(period).toMatchObject({ number: 1, closed: true, characters: 17 });
  });

  test('closes a period that a plan change cut short at once', async () => {
    await furnish(store, MONTH);
    await use(store, 7, 'r1');
    await janitor();
    await settled();
    answered(await store.teams.updateTeam(TEAM, { plan: { name: 'daily', limits: { ...QUOTA, period: 'P1D' } } }));
    await settled();
    expect(await closedNumbers()).toEqual(['1']);
  });

  test('does not postpone a team that was called for meanwhile', async () => {
    await furnish(store, MONTH);
    await client.zadd(DUE_KEY, 10, TEAM, 20, 'B', 30, 'C');
    const putOff = (...args: readonly string[]) => client.call('FCALL', `${functionLibrary().name}_put_off`, 1, DUE_KEY, ...args);
    await putOff(TEAM, '9', '1000', 'B', '20', '2000', 'C', '30', '');
    expect(await client.zrange(DUE_KEY, '0', '-1', 'WITHSCORES')).toEqual([TEAM, '10', 'B', '2000']);
    // A call for the team is read before anything is done.
    await expect(putOff(TEAM, '10', '1000', 'B', '2000')).rejects.toThrow('is missing');
    expect(await client.zscore(DUE_KEY, TEAM)).toBe('10');
  });

  test("records an idle team's finished day, and leaves the current day alone", async () => {
    await furnish(store, MONTH);
    await use(store, 7, 'r1');
    const today = dayOf(clock.nowMs());
    await janitor();
    await settled();
    const unwritten = await client.hstrlen(keys.days, KEY);
    clock.move(DAY_MS + 1_800_000);
    await settled();
    expect(await client.hstrlen(keys.days, KEY)).toBeGreaterThan(unwritten);
    expect(await client.hget(keys.days, 'told')).toBe(String(today));
    await use(store, 5, 'r2');
    const { days } = answered(await store.history.days(TEAM, { from: today, to: today + 1 }))!;
    expect(days.map(({ day, characters, requests }) => [day - today, characters, requests])).toEqual([
      [0, 7, 1],
      [1, 5, 1],
    ]);
  });

  test('deletes days and periods that are older than history.days, and nothing else', async () => {
    await furnish(store, { ...QUOTA, period: 'P1D' });
    await janitor({ historyDays: 3 });
    for (let day = 0; day < 6; day++) {
      await use(store, day + 1, `r${day}`);
      await settled();
      clock.move(DAY_MS);
    }
    await settled();
    const whole = answered(await store.history.days(TEAM, { from: 0, to: 1_000_000 }))!;
    expect(whole.days.map(({ characters }) => characters)).toEqual([4, 5, 6]);
    expect(await closedNumbers()).toEqual(['3', '4', '5', '6']);
    expect(answered(await store.teams.usage(TEAM))).toMatchObject({ characters: 0 });
    clock.move(4 * DAY_MS);
    await settled();
    expect(await client.exists(keys.days, keys.periods)).toBe(0);
    await use(store, 9, 'r9');
    const { days } = answered(await store.history.days(TEAM, { from: 0, to: 1_000_000 }))!;
    expect(days.map(({ characters, requests }) => [characters, requests])).toEqual([[9, 1]]);
  });

  test('finds teams that are due but not listed, and closes their periods', async () => {
    await furnish(store, MONTH);
    const { p } = await client.hgetallBuffer(keys.team);
    const starts = clock.nowMs() - 30 * DAY_MS;
    const left = {
      starts,
      ends: clock.nowMs() - 1000,
      plan: 'old',
      p: p!,
      currency: 'EUR',
      length: MONTH.period,
      characters: 42,
      requests: 3,
      open: 0,
      over: 0,
      allowance: 0,
      tests: 0,
      opening: 0,
      added: 0,
      deducted: 0,
      balance: 0,
    };
    await client.hset(keys.team.replace(/team$/, 'use:7'), left);
    const books = (await client.hgetBuffer(keys.team, 'b'))!;
    books.writeDoubleBE(8);
    await client.hset(keys.team, 'b', books);
    await client.del(DUE_KEY);
    await janitor();
    await settled();
    const [running, closed, ...others] = answered(await store.history.periods(TEAM))!;
    expect(running).toMatchObject({ number: 8, closed: false });
    expect(closed).toMatchObject({ number: 7, closed: true, startMs: starts, plan: 'old', characters: 42, limits: MONTH });
    expect(others).toEqual([]);
    expect(await closedNumbers()).toEqual(['7']);
  });

  test('closes a period whose reservations have vanished, once the last of them must have expired', async () => {
    await furnish(store, SHORT);
    await use(store, 7, 'r1');
    await store.ledger.admit(asking('r2', { characters: 10, leaseMs: 60_000 }));
    await janitor();
    clock.move(10_000);
    await settled();
    // The reservation is gone, but still counted in the period.
    await client.del(keys.ids, keys.places, keys.late);
    clock.move(60_000);
    await settled();
    expect(await closedNumbers()).toEqual([]);
    clock.move(120_000);
    await settled();
    expect(await closedNumbers()).toContain('1');
  });

  test('runs in one process at a time, and another takes over if that has stopped or died', async () => {
    await furnish(store, SHORT);
    const first = await openRedisStore({ url: redis.server.url, log: SILENT, clock, tendEveryMs: EVERY_MS, commandTimeoutMs: 5000 });
    await settled();
    const name = await client.get(JANITOR_KEY);
    await janitor();
    expect(await client.pttl(JANITOR_KEY)).toBeGreaterThan(0);
    expect(await client.get(JANITOR_KEY)).toBe(name);
    await first.close();
    clock.move(10_000);
    await settled();
    expect(await client.get(JANITOR_KEY)).not.toBe(name);
    await client.set(JANITOR_KEY, 'one that has died', 'PX', 200);
    clock.move(10_000);
    await settled();
  });

  test('continues with other teams if the data of one is broken', async () => {
    await furnish(store, SHORT);
    await furnish(store, SHORT, 0, `${TEAM}2`, `${KEY}2`);
    await client.set(keys.periods, 'of the wrong type');
    await client.hset(teamKeys(`${TEAM}2`).team, 'period', 'no duration');
    await furnish(store, SHORT, 0, `${TEAM}3`, `${KEY}3`);
    await janitor();
    clock.move(10_000);
    await settled(client, 3);
    expect(Number(await client.zscore(DUE_KEY, `${TEAM}3`))).toBe(clock.nowMs() + 10_000);
    expect(Number(await client.zscore(DUE_KEY, TEAM))).toBeGreaterThan(clock.nowMs() + 10_000);
  });

  test('drops a team that no longer exists, and takes up one that a wrong clock has postponed for years', async () => {
    await furnish(store, SHORT);
    await client.zadd(DUE_KEY, 0, 'gone', clock.nowMs() + 1000 * DAY_MS, TEAM);
    await janitor();
    await settled();
    expect(await client.zrange(DUE_KEY, '0', '-1')).toEqual([TEAM]);
    expect(Number(await client.zscore(DUE_KEY, TEAM))).toBe(clock.nowMs() + 10_000);
  });

  test('works in a cluster', async () => {
    const cluster = await clusterOfOne();
    const clustered = promisedStore(
      await openRedisStore({ url: cluster.url, log: SILENT, clock, tendEveryMs: EVERY_MS, commandTimeoutMs: 5000 }),
    );
    await furnish(clustered, SHORT);
    await use(clustered, 7, 'r1');
    clock.move(10_000);
    await settled(cluster.client);
    expect(await cluster.client.hkeys(keys.periods)).toEqual(['1']);
    await clustered.close();
  });

  test('handles many teams that are due at once in rounds, between which other calls run', async () => {
    const teams = 450;
    for (let i = 0; i < teams; i++) await furnish(store, SHORT, 0, `${TEAM}-${i}`, `${KEY}-${i}`);
    clock.move(10_000);
    await janitor();
    await settled(client, teams);
    const due = await client.zrange(DUE_KEY, '0', '-1', 'WITHSCORES');
    expect(new Set(due.filter((_, i) => i % 2 === 1))).toEqual(new Set([String(clock.nowMs() + 10_000)]));
  });
});
