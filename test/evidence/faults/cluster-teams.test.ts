// What looks at all teams of a Redis Cluster looks at those of every master, and goes on after the first piece of them.
import { expect, test } from 'vitest';
import { checkedStore } from '../../support/checked-store.ts';
import { openRedisStore, teamSlot } from '../../support/door/stores.ts';
import { displayOf } from '../../support/door/terms.ts';
import { makeTeam, QUOTA_PLAN } from '../../support/gateway.ts';
import { startRedisCluster } from '../../support/redis-cluster.ts';
import { SILENT } from '../../support/silent-log.ts';

/** More than are read at a time. */
const TEAMS = 210;

test('a key is found by its display, and the check counts all', async ({ onTestFinished }) => {
  const cluster = await startRedisCluster();
  onTestFinished(() => cluster.stop());
  const clock = { nowMs: () => Date.now() };
  const store = await openRedisStore({ url: cluster.url, log: SILENT, clock, commandTimeoutMs: 5000 });
  const made = await Promise.all(Array.from({ length: TEAMS }, () => makeTeam(store, QUOTA_PLAN)));
  const teams = made.toSorted((one, other) => (one.teamId < other.teamId ? -1 : 1));
  const masterOf = await cluster.masters();
  expect(new Set(teams.map(({ teamId }) => masterOf(teamSlot(teamId)))).size).toBe(3);
  for (const { key, keyId, teamId } of [teams[0]!, teams.at(-1)!])
    expect(await store.teams.findKeys({ display: displayOf(key) })).toMatchObject([{ keyId, teamId }]);
  await store.close();
  const { counts, findings } = await checkedStore(cluster.url);
  expect({ ...counts, findings }).toMatchObject({ teams: TEAMS, keys: TEAMS, findings: [] });
});
