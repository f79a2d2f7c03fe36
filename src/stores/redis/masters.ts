// Checks a master before admissions are sent to it, and again after a lost connection: that it is one, and what its clock says.
import { Cluster } from 'ioredis';
import type { Redis } from 'ioredis';
import type { StoreUnavailable } from '../../domain/store-unavailable.ts';
import { causeOf } from './failure-cause.ts';
import type { RedisConnection } from './redis-connection.ts';
import { serverTime } from './server-call.ts';
import type { ServerClocks } from './server-clocks.ts';

interface MastersOptions {
  readonly redis: RedisConnection;
  readonly causeOf: (error: unknown) => string;
  readonly clocks: ServerClocks;
}

const REPLICA: StoreUnavailable = { kind: 'unavailable', cause: 'readonly' };
const LOST = new Error('the connection was lost');
const NOT_KNOWN: StoreUnavailable = { kind: 'unavailable', cause: 'closed' };

export class Masters {
  readonly #options: MastersOptions;
  /** The masters that admissions may be sent to. */
  readonly settled = new Set<string>();
  /** The id of each master's process when it was last checked. */
  readonly #runIds = new Map<string, string | undefined>();
  readonly #looks = new Map<string, Promise<StoreUnavailable | undefined>>();
  /** Counts lost connections: a check during which a connection was lost does not cover the new connection. */
  #losses = 0;

  constructor(options: MastersOptions) {
    this.#options = options;
    const { redis } = options;
    if (!(redis instanceof Cluster)) {
      redis.on('close', () => this.#lose(''));
      redis.on('ready', () => void this.settle(''));
      return;
    }
    const watch = (node: Redis): void => void node.on('close', () => this.#lose(nameOf(node)));
    for (const node of redis.nodes('all')) watch(node);
    redis.on('+node', watch);
    // A master that becomes a replica keeps its connections, and may have other data when it becomes a master again.
    redis.on('refresh', () => this.#keepOnly(new Set(redis.slots.map((nodes) => nodes?.[0]))));
  }

  runIdOf(name: string): string | undefined {
    return this.#runIds.get(name);
  }

  /** Makes sure that admissions may be sent to a master; otherwise returns the reason. */
  settle(name: string): Promise<StoreUnavailable | undefined> {
    const under = this.#looks.get(name);
    if (under !== undefined) return under;
    const look = this.#look(name).finally(() => this.#looks.delete(name));
    this.#looks.set(name, look);
    return look;
  }

  async #look(name: string): Promise<StoreUnavailable | undefined> {
    const { redis, causeOf: wordOf } = this.#options;
    const losses = this.#losses;
    try {
      const server = serverOf(redis, name);
      if (server === undefined) return NOT_KNOWN;
      const info = await readMasterInfo(server);
      if (!info.isMaster) return REPLICA;
      await this.#readClock(name, server);
      if (losses !== this.#losses) return { kind: 'unavailable', cause: wordOf(LOST) };
      this.#runIds.set(name, info.runId);
      this.settled.add(name);
      return undefined;
    } catch (error) {
      return { kind: 'unavailable', cause: wordOf(error) };
    }
  }

  /** Before anything runs there: a new master's clock may be wrong. */
  async #readClock(name: string, server: Redis): Promise<void> {
    const { clocks } = this.#options;
    if (clocks.isGiven) return;
    const sentAtMs = performance.now();
    const nowMs = await serverTime(server);
    clocks.learn(name, sentAtMs, performance.now(), nowMs);
  }

  #lose(name: string): void {
    this.#losses++;
    this.settled.delete(name);
  }

  #keepOnly(masters: ReadonlySet<string | undefined>): void {
    for (const name of this.settled) if (!masters.has(name)) this.#lose(name);
  }
}

/** What a server reports about itself: its data set, its role and whether it has replicas. */
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
