// The connection to Redis, with every queue and resend of the client library turned off.
import { Cluster, Redis } from 'ioredis';
import type { RedisOptions } from 'ioredis';
import type { RedisTarget } from './redis-url.ts';

export type RedisConnection = Redis | Cluster;

export function mastersOf(redis: RedisConnection): readonly Redis[] {
  return redis instanceof Cluster ? redis.nodes('master') : [redis];
}

const CONNECT_TIMEOUT_MS = 1000;
const RECONNECT_MAX_MS = 500;
const LOADING_RETRY_MS = 50;
const ASK_TIMEOUT_MS = 300;

/** When a server of the connection last turned out to be a replica: what is under way then fails as if the connection were lost. */
const demotions = new WeakMap<RedisConnection, { atMs: number }>();
const DEMOTED_MS = 1000;

/** Whether the connection is being made anew because its server takes no writes any more. */
export function isDemoted(connection: RedisConnection): boolean {
  return performance.now() - (demotions.get(connection)?.atMs ?? -Infinity) < DEMOTED_MS;
}

/** Not connected yet. Keeps reconnecting for as long as it is not closed. */
export function redisConnection(target: RedisTarget, commandTimeoutMs: number): RedisConnection {
  const demotion = { atMs: -Infinity };
  const connection = build(target, commandTimeoutMs, () => (demotion.atMs = performance.now()));
  demotions.set(connection, demotion);
  // Without a listener ioredis prints each lost connection as an unhandled event. What it means is for the probe to say.
  connection.on('error', () => undefined);
  return connection;
}

/**
 * After a lost reply a command's outcome is unknown, and by default ioredis would send it again. All of its resending is off:
 * an operation is repeated by its id or not at all. Nothing waits for a server that is away.
 */
function build(target: RedisTarget, commandTimeoutMs: number, onDemoted: () => void): RedisConnection {
  const common = commonOptions(target, commandTimeoutMs, onDemoted);
  if (target.kind === 'cluster') {
    return new Cluster([...target.nodes], {
      redisOptions: common,
      lazyConnect: true,
      enableOfflineQueue: false,
      // Both would run a command again whose outcome is unknown; MOVED and ASK redirections are safe, nothing has run then.
      retryDelayOnFailover: 0,
      retryDelayOnClusterDown: 0,
      maxRedirections: 4,
      // Shorter than for a command: if the node that is asked hangs, the next one is asked.
      slotsRefreshTimeout: Math.min(commandTimeoutMs, ASK_TIMEOUT_MS),
      clusterRetryStrategy: reconnectDelay,
    });
  }
  const single = { ...common, enableOfflineQueue: false, lazyConnect: true, retryStrategy: reconnectDelay, db: target.database };
  if (target.kind === 'server') return new Redis({ ...single, ...target.server });
  return new SentinelConnection({ ...single, ...sentinelOptions(target, commandTimeoutMs) });
}

/**
 * Connects again until it is closed. The library gives up for good when a sentinel announces a new master while it is connecting
 * (the announcement ends the lost connection's subscription, and with it the attempt under way), in about one failover of four.
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

/** A connection to one server beside the store's own, not connected yet, for a single question; `node` names it in a cluster. */
export function ownConnection(target: RedisTarget, node: string, commandTimeoutMs: number): Redis {
  const options = { ...commonOptions(target, commandTimeoutMs), enableOfflineQueue: false, lazyConnect: true, retryStrategy: () => null };
  const connection = new Redis({ ...options, ...placeOf(target, node, commandTimeoutMs) });
  connection.on('error', () => undefined);
  return connection;
}

function placeOf(target: RedisTarget, node: string, commandTimeoutMs: number) {
  switch (target.kind) {
    case 'server':
      return { ...target.server, db: target.database };
    case 'sentinel':
      return { ...sentinelOptions(target, commandTimeoutMs), failoverDetector: false, db: target.database };
    case 'cluster': {
      const colon = node.lastIndexOf(':');
      return { host: node.slice(0, colon), port: Number(node.slice(colon + 1)) };
    }
  }
}

function sentinelOptions(target: Extract<RedisTarget, { kind: 'sentinel' }>, commandTimeoutMs: number) {
  return {
    sentinels: target.sentinels.map(({ host, port }) => ({ host, port })),
    name: target.name,
    sentinelRetryStrategy: reconnectDelay,
    sentinelCommandTimeout: commandTimeoutMs,
    // A master that hangs keeps its connections open: the sentinels say when another one has taken over.
    failoverDetector: true,
  } satisfies RedisOptions;
}

function commonOptions(target: RedisTarget, commandTimeoutMs: number, onDemoted?: () => void) {
  return {
    ...(target.username === undefined ? {} : { username: target.username }),
    ...(target.password === undefined ? {} : { password: target.password }),
    ...(target.tls ? { tls: {} } : {}),
    protocol: 2,
    connectionName: 'lingate',
    maxRetriesPerRequest: 0,
    autoResendUnfulfilledCommands: false,
    autoResubscribe: false,
    enableAutoPipelining: false,
    commandTimeout: commandTimeoutMs,
    connectTimeout: CONNECT_TIMEOUT_MS,
    // Otherwise a server that was loading its data is tried again only after a second or more.
    maxLoadingRetryTime: LOADING_RETRY_MS,
    // 1 reconnects, 2 would also send the command again. READONLY means a demoted master: a new connection finds the new one.
    reconnectOnError: (error: Error) => {
      if (!error.message.startsWith('READONLY')) return false;
      onDemoted?.();
      return 1 as const;
    },
  } satisfies RedisOptions;
}

function reconnectDelay(times: number): number {
  return Math.min(50 * times, RECONNECT_MAX_MS);
}
