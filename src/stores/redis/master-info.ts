// What a Redis server reports about itself: its data set, its role and whether it has replicas.
import { Cluster } from 'ioredis';
import type { Redis } from 'ioredis';
import { causeOf } from './failure-cause.ts';
import type { RedisConnection } from './redis-connection.ts';

interface MasterInfo {
  /** Identifies the process; `undefined` if INFO is not permitted. */
  readonly runId: string | undefined;
  /** Also changes when the server is promoted again, and so may lack writes, and when it gets its first replica. */
  readonly identity: string | undefined;
  readonly isMaster: boolean;
  /** It has replicas, or had one within `repl-backlog-ttl` (an hour). */
  readonly hasReplicas: boolean;
}

const UNKNOWN: MasterInfo = { runId: undefined, identity: undefined, isMaster: true, hasReplicas: false };

export async function readMasterInfo(server: Redis): Promise<MasterInfo> {
  try {
    const info = await server.info('server', 'replication');
    const member = (name: string): string => new RegExp(`^${name}:(.*?)\r?$`, 'm').exec(info)?.[1] ?? '';
    const runId = member('run_id');
    return {
      runId,
      identity: `${runId} ${member('master_replid')}`,
      isMaster: member('role') !== 'slave',
      hasReplicas: Number(member('connected_slaves')) > 0 || member('repl_backlog_active') === '1',
    };
  } catch (error) {
    if (['noperm', 'refused'].includes(causeOf(error))) return UNKNOWN;
    throw error;
  }
}

/** The connection to the server by its name in the cluster's slots; without a cluster the only connection, whatever the name. */
export function serverOf(redis: RedisConnection, name: string): Redis | undefined {
  if (!(redis instanceof Cluster)) return redis;
  return redis.nodes('all').find((node) => nameOf(node) === name);
}

export function nameOf({ options: { host, port } }: Redis): string {
  return `${host}:${port}`;
}
