// Deletions of teams on Redis: completed by the janitor, and in a cluster of several servers.
import type { Redis } from 'ioredis';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { answered } from '../../../../src/domain/store-unavailable.ts';
import type { PluginStore } from '../../../../src/ports/plugin.ts';
import { functionLibrary } from '../../../../src/stores/redis/functions.ts';
import { digestKey, ERASURES_KEY, ONLY_USAGE_KEY, ownerKey, teamKeys } from '../../../../src/stores/redis/redis-keys.ts';
import { created, DE, dictionary } from '../../../../src/testing/store/dictionaries-under-test.ts';
import { freshKey, newId, teamUnderTest } from '../../../../src/testing/store/team-under-test.ts';
import type { TeamUnderTest } from '../../../../src/testing/store/team-under-test.ts';
import type { NewKey } from '../../../../src/ports/team-registry.ts';
import { startRedisCluster } from '../../../support/redis-cluster.ts';
import type { RedisCluster } from '../../../support/redis-cluster.ts';
import { emptyRedis } from '../../../support/redis-of-file.ts';
import { placesOf } from '../../../support/store-search.ts';
import { stillClock } from './fixture.ts';

const EVERY_MS = 10;
/** Only a failing test waits this long. */
const WAITED_MS = 20_000;
const MINUTE_MS = 60_000;
const KEYS = 12;

const redis = emptyRedis();
let client: Redis;
let store: PluginStore;
let clock: ReturnType<typeof stillClock>;

beforeEach(async () => {
  ({ client } = redis);
  clock = stillClock();
  store = await redis.open({ clock });
});

interface Furnished {
  readonly team: TeamUnderTest;
  readonly keys: readonly NewKey[];
  /** The ids and digests of its keys. */
  readonly words: readonly string[];
}

async function furnished(on = store, count = KEYS): Promise<Furnished> {
  const team = await teamUnderTest(on);
  const keys = Array.from({ length: count }, () => freshKey(team.teamId));
  for (const key of keys) answered(await on.teams.createKey(key));
  await created(on, team.teamId, dictionary(DE));
  await team.commit((await team.reserve(5)).requestId);
  return { team, keys, words: [team.teamId, ...keys.flatMap(({ keyId, digest }) => [keyId, digest])] };
}

async function announce(teamId: string, atMs = clock.nowMs()): Promise<void> {
  await client.zadd(ERASURES_KEY, atMs, teamId);
}

/** What the command has done if it is killed after its first step. */
async function begin(teamId: string, keepUsage: boolean): Promise<void> {
  await announce(teamId);
  const head = [String(clock.nowMs()), '', '', '', '', ''];
  const call = [`${functionLibrary().name}_delete_team`, 1, teamKeys(teamId).team] as const;
  expect(await client.callBuffer('FCALL', ...call, ...head, keepUsage ? '1' : '', '', '', '0')).toEqual([
    expect.any(Number),
    Buffer.from('erasing'),
  ]);
}

describe('the janitor', () => {
  const janitor = (): Promise<PluginStore> => redis.open({ clock, tendEveryMs: EVERY_MS });
  const isListed = async (teamId: string): Promise<boolean> => (await client.zscore(ERASURES_KEY, teamId)) !== null;
  const ended = (teamId: string) => vi.waitUntil(async () => !(await isListed(teamId)), { timeout: WAITED_MS, interval: EVERY_MS });

  test('completes an interrupted deletion without leaving a trace', async () => {
    const [goes, stays] = [await furnished(), await furnished()];
    await begin(goes.team.teamId, false);
    expect(await goes.team.admit()).toEqual({ kind: 'key_unknown' });
    expect((await placesOf(redis.server.url, goes.words)).length).toBeGreaterThan(KEYS);
    await janitor();
    await ended(goes.team.teamId);
    expect(await placesOf(redis.server.url, goes.words)).toEqual([]);
    expect(await stays.team.admit()).toMatchObject({ kind: 'admitted' });
    for (const { digest, keyId } of stays.keys) expect(await store.keys.find(digest)).toMatchObject({ keyId });
  });

  test('completes one whose usage stays, and leaves nothing else', async () => {
    const goes = await furnished();
    const { teamId, keyId } = goes.team;
    await begin(teamId, true);
    await janitor();
    await ended(teamId);
    for (const { digest, keyId: id } of goes.keys) {
      expect([await client.exists(digestKey(digest)), await client.exists(ownerKey(id))]).toEqual([0, 0]);
    }
    expect(
      await placesOf(
        redis.server.url,
        goes.keys.map(({ digest }) => digest),
      ),
    ).toEqual([]);
    expect(await client.zrange(ONLY_USAGE_KEY, 0, '-1')).toEqual([teamId]);
    const day = Math.floor(clock.nowMs() / 86_400_000);
    const kept = answered(await store.history.days(teamId, { from: day, to: day }))!;
    expect(kept.days).toEqual([{ day, keyId, characters: 5, requests: 1 }]);
    expect(kept.keys.map(({ display, label }) => display + label).join('')).toBe('');
    expect(await goes.team.admit()).toEqual({ kind: 'key_unknown' });
  });

  test('forgets one that was announced and never begun after a minute, and leaves the team unchanged', async () => {
    const [late, recent, gone] = [await furnished(store, 1), await furnished(store, 1), await furnished(store, 1)];
    await announce(late.team.teamId, clock.nowMs() - MINUTE_MS - 1);
    await announce(recent.team.teamId, clock.nowMs() - MINUTE_MS + 1);
    await begin(gone.team.teamId, false);
    await janitor();
    // The list is processed in order of time, so the others have been handled when the last one ends.
    await ended(gone.team.teamId);
    expect([await isListed(late.team.teamId), await isListed(recent.team.teamId)]).toEqual([false, true]);
    for (const { team } of [late, recent]) expect(await team.admit()).toMatchObject({ kind: 'admitted' });
  });
});

describe('in a cluster', () => {
  let cluster: RedisCluster;
  let across: PluginStore;

  beforeAll(async () => {
    cluster = await startRedisCluster({ masters: 3, replicasEach: 0 });
  });

  afterAll(() => cluster.stop());

  beforeEach(async () => {
    across = await redis.open({ url: cluster.url });
  });

  const everywhere = async (words: readonly string[]): Promise<string[]> =>
    (await Promise.all(cluster.nodes.map(({ server }) => placesOf(server.url, words)))).flat();
  const holders = async (words: readonly string[]): Promise<number> =>
    (await Promise.all(cluster.nodes.map(async ({ server }) => (await placesOf(server.url, words)).length > 0))).filter(Boolean).length;

  test('keys are gone from every server, and another team keeps all of its own', async () => {
    const [goes, stays] = [await furnished(across), await furnished(across)];
    expect(await holders(goes.keys.map(({ digest }) => digest))).toBeGreaterThan(1);
    expect(await across.teams.deleteTeam(goes.team.teamId, { keepUsage: false })).toBe(true);
    expect(await everywhere(goes.words)).toEqual([]);
    expect(await goes.team.admit()).toEqual({ kind: 'key_unknown' });
    for (const { digest, keyId } of stays.keys) expect(await across.keys.find(digest)).toMatchObject({ keyId });
    expect(await stays.team.admit({ requestId: newId() })).toMatchObject({ kind: 'admitted' });
  });
});
