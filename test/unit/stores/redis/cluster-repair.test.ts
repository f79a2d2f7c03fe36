// On a Redis Cluster, what a wrong clock has begun is undone for teams on every master, while they are used.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { repairStoreAt } from '../../../../src/app/store-upkeep.ts';
import { DAY_MS } from '../../../../src/domain/period.ts';
import { answered } from '../../../../src/domain/store-unavailable.ts';
import { teamSlot } from '../../../../src/stores/redis/redis-keys.ts';
import { openRedisStore } from '../../../../src/stores/redis/redis-store.ts';
import { teamUnderTest } from '../../../../src/testing/store/team-under-test.ts';
import type { TeamUnderTest } from '../../../../src/testing/store/team-under-test.ts';
import { checkedStore } from '../../../support/checked-store.ts';
import { promisedStore } from '../../../support/promised-store.ts';
import { startRedisCluster } from '../../../support/redis-cluster.ts';
import type { RedisCluster } from '../../../support/redis-cluster.ts';
import { SILENT } from '../../../support/silent-log.ts';

const TEAMS = 12;
let cluster: RedisCluster;

beforeAll(async () => {
  cluster = await startRedisCluster({ replicasEach: 0 });
});
afterAll(() => cluster.stop());

test('every team is repaired once, with all that it was charged', async () => {
  let days = -3;
  const clock = { nowMs: () => Date.now() + days * DAY_MS };
  const store = promisedStore(await openRedisStore({ url: cluster.url, log: SILENT, clock, commandTimeoutMs: 5000 }));
  const teams: TeamUnderTest[] = [];
  for (let i = 0; i < TEAMS; i++) teams.push(await teamUnderTest(store));
  for (const team of teams) await team.use(10);
  days = 400;
  for (const team of teams) await team.use(5);
  days = 0;
  const masterOf = await cluster.masters();
  expect(new Set(teams.map(({ teamId }) => masterOf(teamSlot(teamId)).id)).size).toBe(3);
  const checked = async (): Promise<Set<string>> =>
    new Set((await checkedStore(cluster.url, 0, Date.now())).findings.map(({ what }) => what));
  expect(await checked()).toEqual(new Set(['clock']));

  const told: string[] = [];
  const done = await repairStoreAt({
    url: cluster.url,
    historyDays: 400,
    confirm: () => Promise.resolve(true),
    async onTeam({ teamId }) {
      told.push(teamId);
      // Others go on meanwhile, those that are repaired and those that are not.
      await Promise.all(teams.map((team) => team.use(1)));
    },
  });
  expect(done.map(({ teamId }) => teamId)).toEqual(told);
  expect(told.toSorted()).toEqual(teams.map(({ teamId }) => teamId).toSorted());
  expect(await checked()).toEqual(new Set());
  for (const { teamId } of teams) {
    const usage = answered(await store.teams.usage(teamId))!;
    expect(usage).toMatchObject({ characters: 15 + TEAMS });
    expect(usage.periodStartMs).toBeLessThanOrEqual(Date.now());
  }
  await store.close();
});
