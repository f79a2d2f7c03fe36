// The connection to Redis, with all queueing and resending by ioredis turned off.
import { Cluster, Redis } from 'ioredis';
import type { RedisOptions } from 'ioredis';
import type { RedisTarget } from './redis-url.ts';

export type RedisConnection = Redis | Cluster;

export function mastersOf(redis: RedisConnection): readonly Redis[] {
  return redis instanceof Cluster ? redis.nodes('master') : [redis];
}

/** The name of a server in the cluster's slots. */
export function nameOf({ options: { host, port } }: Redis): string {
  return `${host}:${port}`;
}

/** The connection to the server with this name; without a cluster the only connection, whatever the name. */
export function serverOf(redis: RedisConnection, name: string): Redis | undefined {
  return redis instanceof Cluster ? redis.nodes('all').find((node) => nameOf(node) === name) : redis;
}

/** Called for each connection to a server, also for those that come later; `name` is '' without a cluster. */
export function eachServer(redis: RedisConnection, found: (server: Redis, name: string) => void): void {
  if (!(redis instanceof Cluster)) return found(redis, '');
  const foundNode = (node: Redis): void => found(node, nameOf(node));
  redis.nodes('all').forEach(foundNode);
  redis.on('+node', foundNode);
}

const CONNECT_TIMEOUT_MS = 1000;
const RECONNECT_MAX_MS = 500;
const LOADING_RETRY_MS = 50;
const ASK_TIMEOUT_MS = 300;

/** Not connected yet. Keeps reconnecting until it is closed. */
export function redisConnection(target: RedisTarget, commandTimeoutMs: number): RedisConnection {
  const connection = build(target, commandTimeoutMs);
  // Without a listener ioredis prints each lost connection as an unhandled event. The store's probe reports lost connections.
  connection.on('error', () => undefined);
  return connection;
}

/**
 * After a lost reply a command's outcome is unknown, and by default ioredis would send it again. All resending is off: an
 * operation is repeated by its id or not at all. Commands fail at once if the server is not connected.
 */
function build(target: RedisTarget, commandTimeoutMs: number): RedisConnection {
  const common = commonOptions(target, commandTimeoutMs);
  if (target.kind === 'cluster') {
    return new Cluster([...target.nodes], {
      redisOptions: common,
      lazyConnect: true,
      enableOfflineQueue: false,
      // Both would repeat a command whose outcome is unknown. MOVED and ASK redirections are safe, because nothing was
      // executed.
      retryDelayOnFailover: 0,
      retryDelayOnClusterDown: 0,
      maxRedirections: 4,
      // Shorter than for a command: if the node being asked hangs, the next one is asked.
      slotsRefreshTimeout: Math.min(commandTimeoutMs, ASK_TIMEOUT_MS),
      clusterRetryStrategy: reconnectDelay,
    });
  }
  const single = { ...common, enableOfflineQueue: false, lazyConnect: true, retryStrategy: reconnectDelay, db: target.database };
  if (target.kind === 'server') return new Redis({ ...single, ...target.server });
  return new SentinelConnection({
    ...single,
    sentinels: [...target.sentinels],
    name: target.name,
    sentinelRetryStrategy: reconnectDelay,
    sentinelCommandTimeout: commandTimeoutMs,
    // A master that hangs keeps its connections open; the sentinels report when another one has taken over.
    failoverDetector: true,
  });
}

/**
 * Reconnects until it is closed. ioredis gives up for good if a sentinel announces a new master while it is connecting (the
 * announcement ends the lost connection's subscription, and with it the attempt in flight), in about one of four failovers.
 */
class SentinelConnection extends Redis {
  #isClosed = false;

  constructor(options: Omit<RedisOptions, 'replyMapping'>) {
    super(options);
    this.on('end', () => setTimeout(() => this.#connectAgain(), reconnectDelay(1)));
  }

  override disconnect(reconnect = false): void {
    this.#isClosed ||= !reconnect;
    super.disconnect(reconnect);
  }

  #connectAgain(): void {
    if (!this.#isClosed && this.status === 'end') this.connect().catch(() => undefined);
  }
}

/** A separate, not yet connected connection to a server for a single query. */
export function ownConnection(server: Redis, commandTimeout: number): Redis {
  const once = { retryStrategy: () => null, enableOfflineQueue: false, lazyConnect: true, failoverDetector: false, commandTimeout };
  const connection = server.duplicate(once);
  connection.on('error', () => undefined);
  return connection;
}

function commonOptions(target: RedisTarget, commandTimeoutMs: number) {
  return {
    username: target.username,
    password: target.password,
    tls: target.tls ? {} : undefined,
    protocol: 2,
    connectionName: 'lingate',
    maxRetriesPerRequest: 0,
    autoResendUnfulfilledCommands: false,
    autoResubscribe: false,
    enableAutoPipelining: false,
    commandTimeout: commandTimeoutMs,
    connectTimeout: CONNECT_TIMEOUT_MS,
    // Otherwise a server that was loading its data is retried only after a second or more.
    maxLoadingRetryTime: LOADING_RETRY_MS,
    // 1 reconnects; 2 would also resend the command. READONLY means a demoted master: a new connection finds the new one.
    reconnectOnError: (error: Error) => (error.message.startsWith('READONLY') ? (1 as const) : false),
  } satisfies RedisOptions;
}

function reconnectDelay(times: number): number {
  return Math.min(50 * times, RECONNECT_MAX_MS);
}

/** All key names with this prefix on all masters, in batches; a name may occur twice. */
export async function* scanned(redis: RedisConnection, count: number, prefix = 'lingate:'): AsyncGenerator<string[]> {
  for (const master of mastersOf(redis)) {
    for (let cursor = '0', begun = false; !begun || cursor !== '0'; begun = true) {
      const [next, names] = await master.scan(cursor, 'MATCH', `${prefix}*`, 'COUNT', count);
      if (names.length > 0) yield names;
      cursor = next;
    }
  }
}
