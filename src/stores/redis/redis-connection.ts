// The connection to Redis, with all queueing and resending by ioredis turned off; its servers; and why it fails, as a short fixed word
// for logs, metrics and operators, never an error's own text.
import { Cluster, Redis } from 'ioredis';
import type { RedisOptions } from 'ioredis';
import type { RedisTarget } from './redis-url.ts';

export type RedisConnection = Redis | Cluster;

const CONNECT_TIMEOUT_MS = 1000;
const RECONNECT_MAX_MS = 500;
const LOADING_RETRY_MS = 50;
const ASK_TIMEOUT_MS = 300;
const ASK_EVERY_MS = 500;

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
function build(target: RedisTarget, commandTimeout: number): RedisConnection {
  const { kind, hosts, name, database, username, password, tls } = target;
  const common = {
    username,
    password,
    tls: tls ? {} : undefined,
    protocol: 2,
    connectionName: 'lingate',
    maxRetriesPerRequest: 0,
    autoResendUnfulfilledCommands: false,
    autoResubscribe: false,
    enableAutoPipelining: false,
    commandTimeout,
    connectTimeout: CONNECT_TIMEOUT_MS,
    // Otherwise a server that was loading its data is retried only after a second or more.
    maxLoadingRetryTime: LOADING_RETRY_MS,
    // 1 reconnects; 2 would also resend the command. READONLY means a demoted master: a new connection finds the new one.
    reconnectOnError: (error: Error) => (error.message.startsWith('READONLY') ? (1 as const) : false),
  } satisfies RedisOptions;
  const unqueued = { enableOfflineQueue: false, lazyConnect: true };
  if (kind === 'cluster') {
    return new Cluster([...hosts], {
      ...unqueued,
      redisOptions: common,
      // Both would repeat a command whose outcome is unknown. MOVED and ASK redirections are safe, because nothing was
      // executed.
      retryDelayOnFailover: 0,
      retryDelayOnClusterDown: 0,
      maxRedirections: 4,
      // A master that hangs keeps its connections open; only the other nodes know that another one has taken over.
      slotsRefreshInterval: ASK_EVERY_MS,
      // Shorter than for a command: if the node being asked hangs, the next one is asked.
      slotsRefreshTimeout: Math.min(commandTimeout, ASK_TIMEOUT_MS),
      clusterRetryStrategy: reconnectDelay,
    });
  }
  const single = { ...common, ...unqueued, retryStrategy: reconnectDelay, db: database };
  if (kind === 'server') return new Redis({ ...single, ...hosts[0] });
  return new SentinelConnection({
    ...single,
    sentinels: [...hosts],
    name,
    sentinelRetryStrategy: reconnectDelay,
    sentinelCommandTimeout: commandTimeout,
    // As in a cluster; the sentinels report it.
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

function reconnectDelay(times: number): number {
  return Math.min(50 * times, RECONNECT_MAX_MS);
}

// Servers

export function mastersOf(redis: RedisConnection): readonly Redis[] {
  return redis instanceof Cluster ? redis.nodes('master') : [redis];
}

/** The name of a server in the cluster's slots. */
export function nameOf({ options: { host, port } }: Redis): string {
  return `${host}:${port}`;
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

// Failures

/** Redis's error codes that operators can act on; all others become `refused`. */
const REPLY = /(?:^|-)(READONLY|NOREPLICAS|CLUSTERDOWN|MASTERDOWN|LOADING|BUSY|OOM|MISCONF|NOAUTH|WRONGPASS|NOPERM|TRYAGAIN)\b/;
/** ioredis' errors of these two kinds have neither a class nor a code. */
const COMMAND_TIMEOUT = 'Command timed out';
const NO_MASTER = 'All sentinels are unreachable';

/** One of Lingate's own deadlines has passed. */
class TimedOut extends Error {}

/** `timeout`, a system code (`ECONNREFUSED`), a Redis error code in lower case, `refused`, `closed`, or that no master is known. */
export function causeOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  if (error instanceof TimedOut || error.message === COMMAND_TIMEOUT) return 'timeout';
  if (isNoMaster(error)) return 'no sentinel answers with a master';
  if ('code' in error && typeof error.code === 'string') return error.code === 'ETIMEDOUT' ? 'timeout' : error.code;
  const word = REPLY.exec(error.message)?.[1];
  if (word !== undefined) return word.toLowerCase();
  if (error.name === 'ReplyError') return 'refused';
  // A cluster wraps the last node's error.
  return 'lastNodeError' in error && error.lastNodeError !== error ? causeOf(error.lastNodeError) : 'closed';
}

/** The server forbids the command, or does not know it. */
export function isForbidden(error: unknown): boolean {
  return ['noperm', 'refused'].includes(causeOf(error));
}

/** Whether all sentinels were asked and none named a working master. */
export function isNoMaster(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith(NO_MASTER);
}

/** Rejects with `TimedOut` if `promise` takes longer; does not cancel its work. */
export function within<T>(promise: Promise<T>, timeoutMs: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new TimedOut()), Math.max(1, timeoutMs));
    promise.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
