// What happens between a decision and its writing: another gateway goes on with the same, or the time turns out to be another one.
import { beforeEach, expect, test } from 'vitest';
import { answered } from '../../../../src/domain/store-unavailable.ts';
import { groupKey } from '../../../../src/stores/redis/redis-keys.ts';
import { openRedisStore } from '../../../../src/stores/redis/redis-store.ts';
import type { RedisStore } from '../../../../src/stores/redis/redis-store.ts';
import type { PluginStore } from '../../../../src/ports/plugin.ts';
import { emptyRedis } from '../../../support/redis-of-file.ts';
import { SILENT } from '../../../support/silent-log.ts';
import { furnish, TEAM } from './fixture.ts';

const redis = emptyRedis();
let store: RedisStore;
let other: PluginStore;

beforeEach(async () => {
  store = await openRedisStore({ url: redis.server.url, log: SILENT, commandTimeoutMs: 5000 });
  other = await redis.open();
  await furnish(other);
  return () => store.close();
});

test('a deletion that another gateway completes is one', async () => {
  const { link } = store;
  const compare = link.compare.bind(link);
  link.compare = async (...args) => {
    const answer = await compare(...args);
    if (answer === 'changed' && args[0] === TEAM) await other.teams.deleteTeam(TEAM, { keepUsage: false });
    return answer;
  };
  expect(await store.teams.deleteTeam(TEAM, { keepUsage: false })).toBe(true);
  expect(await redis.client.exists(groupKey(TEAM))).toBe(0);
});

test('a team that comes back while its deletion ends is in the list of teams', async () => {
  const { index } = store;
  const remove = index.remove.bind(index);
  index.remove = async (teamId) => {
    if (teamId === TEAM) await furnish(other);
    await remove(teamId);
  };
  expect(await store.teams.deleteTeam(TEAM, { keepUsage: false })).toBe(true);
  expect(await store.teams.listTeams()).toMatchObject([{ teamId: TEAM }]);
});

test('what was decided by a wrong time is decided again', async () => {
  const gateway = await openRedisStore({ url: redis.server.url, log: SILENT, commandTimeoutMs: 5000 });
  const teamId = '01JTEAM0000000000000000001';
  const beganMs = Date.now();
  // The server's clock has gone on by half an hour since this gateway has learned of it.
  gateway.link.clocks.learn('', performance.now(), performance.now(), beganMs - 1_800_000);
  await furnish(gateway, undefined, 0, teamId, '01JKEY00000000000000000001');
  const team = answered(await gateway.teams.findTeam(teamId));
  await gateway.close();
  expect(team?.createdAtMs).toBeGreaterThanOrEqual(beganMs - 1000);
});
