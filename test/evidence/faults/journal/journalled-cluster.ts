// A Redis Cluster whose nodes keep everything they wrote; a team's journal is that of the node which serves it in the end.
import type { Operation } from '../../../support/history.ts';
import { startRedisCluster } from '../../../support/redis-cluster.ts';
import type { ClusterNode, RedisCluster, RedisClusterOptions } from '../../../support/redis-cluster.ts';
import { teamSlot } from '../../../support/door/stores.ts';
import { JOURNALLED } from './aof-file.ts';
import { recordsLeft } from './journalled-redis.ts';
import { redisJournal } from './redis-journal.ts';

export interface JournalledCluster {
  readonly cluster: RedisCluster;
  /** The nodes that serve these teams now. */
  readonly mastersOf: (teamIds: readonly string[]) => Promise<ReadonlyMap<string, ClusterNode>>;
  /** The journals of the nodes that serve these teams now, for the checker. */
  readonly journalOf: (teamIds: readonly string[]) => Promise<() => Operation[]>;
  readonly recordsLeft: (teamId: string) => Promise<number>;
}

export async function startJournalledCluster(options: RedisClusterOptions): Promise<JournalledCluster> {
  const cluster = await startRedisCluster({ ...options, args: [...JOURNALLED, ...(options.args ?? [])] });
  const mastersOf = async (teamIds: readonly string[]) => {
    const masterOf = await cluster.masters();
    return new Map(teamIds.map((teamId) => [teamId, masterOf(teamSlot(teamId))]));
  };
  return {
    cluster,
    mastersOf,
    async journalOf(teamIds) {
      const masters = await mastersOf(teamIds);
      return () =>
        [...new Set(masters.values())].flatMap((node) => redisJournal(node.directory).filter(({ teamId }) => masters.get(teamId) === node));
    },
    recordsLeft: async (teamId) => recordsLeft((await mastersOf([teamId])).get(teamId)!.port, teamId),
  };
}
