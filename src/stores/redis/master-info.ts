// What a Redis server says of itself: which data it has, whether it is a master, and whether it has replicas.
import { Cluster } from 'ioredis';
import type { Redis } from 'ioredis';
import { causeOf } from './failure-cause.ts';
import type { RedisConnection } from './redis-connection.ts';

export interface MasterInfo {
  /** Of the process; `undefined` where INFO is forbidden. */
  readonly runId: string | undefined;
  /** Differs when it has become master anew, too, and so may lack writes; also when it gets its first replica. */
  readonly identity: string | undefined;
  readonly isMaster: boolean;
  /** Has replicas, or has had one within `repl-backlog-ttl` (an hour). */
  readonly hasReplicas: boolean;
}

const UNTOLD: MasterInfo = { runId: undefined, identity: undefined, isMaster: true, hasReplicas: false };

export async function readMasterInfo(server: Redis): Promise<MasterInfo> {
  try {
    const [process, replication] = await Promise.all([server.info('server'), server.info('replication')]);
    const member = (text: string, name: string): string => new RegExp(`^${name}:(.*?)\r?$`, 'm').exec(text)?.[1] ?? '';
    const runId = member(process, 'run_id');
    return {
      runId,
      identity: `${runId} ${member(replication, 'master_replid')}`,
      isMaster: member(replication, 'role') !== 'slave',
      hasReplicas: Number(member(replication, 'connected_slaves')) > 0 || member(replication, 'repl_backlog_active') === '1',
    };
  } catch (error) {
    if (['noperm', 'refused'].includes(causeOf(error))) return UNTOLD;
    throw error;
  }
}

/** The connection to a server by the name that a cluster's slots have for it; to the only one, whatever the name, without a cluster. */
export function serverOf(redis: RedisConnection, name: string): Redis | undefined {
  if (!(redis instanceof Cluster)) return redis;
  return redis.nodes('all').find((node) => nameOf(node) === name);
}

export function nameOf({ options: { host, port } }: Redis): string {
  return `${host}:${port}`;
}
