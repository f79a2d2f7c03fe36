// What another gateway does in the middle of a deletion: it may complete it.
import { beforeEach, expect, test } from 'vitest';
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
