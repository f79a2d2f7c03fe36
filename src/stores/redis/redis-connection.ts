// The connection to Redis, with every queue and resend of the client library turned off.
import { Cluster, Redis } from 'ioredis';
import type { RedisOptions } from 'ioredis';
import type { Log } from '../../ports/log.ts';
import { causeOf } from './failure-cause.ts';
import type { RedisTarget } from './redis-url.ts';

export type RedisConnection = Redis | Cluster;

const CONNECT_TIMEOUT_MS = 1000;
const RECONNECT_MAX_MS = 500;
const LOADING_RETRY_MS = 50;
const ASK_TIMEOUT_MS = 300;
const ERROR_LOG_EVERY_MS = 5000;

/** Not connected yet. Keeps reconnecting for as long as it is not closed. */
export function redisConnection(target: RedisTarget, commandTimeoutMs: number, log: Log): RedisConnection {
  const connection = build(target, commandTimeoutMs);
  let loggedAtMs = -Infinity;
  // Without a listener each lost connection would be printed as an unhandled event; with one per event it floods the log.
  connection.on('error', (error: unknown) => {
    const nowMs = performance.now();
    if (nowMs - loggedAtMs < ERROR_LOG_EVERY_MS) return;
    loggedAtMs = nowMs;
    log.warn('connection to the store failed', { store: target.shown, reason: causeOf(error) });
  });
  return connection;
}

/**
 * A reply that is lost leaves a command's outcome unknown. The library's defaults would then run it again, so all of its
 * resending is off: an operation is repeated by its id or not at all. Nothing waits for a server that is away.
 */
function build(target: RedisTarget, commandTimeoutMs: number): RedisConnection {
  const common = {
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
    // Without it, a server that was met while it read its file is looked at again after a second at the earliest.
    maxLoadingRetryTime: LOADING_RETRY_MS,
    // 1 is reconnect; 2 would run the command again. A demoted master is left for the one that a new connection finds.
    reconnectOnError: (error: Error) => (error.message.startsWith('READONLY') ? 1 : false),
  } satisfies RedisOptions;
  if (target.kind === 'cluster') {
    return new Cluster([...target.nodes], {
      redisOptions: common,
      lazyConnect: true,
      enableOfflineQueue: false,
      // Both would run a command again whose outcome is unknown; MOVED and ASK redirections are safe, nothing has run then.
      retryDelayOnFailover: 0,
      retryDelayOnClusterDown: 0,
      maxRedirections: 4,
      // Less patient than with a command: the node that is asked may be the one that hangs, and then the next is asked.
      slotsRefreshTimeout: Math.min(commandTimeoutMs, ASK_TIMEOUT_MS),
      clusterRetryStrategy: reconnectDelay,
    });
  }
  const single = { ...common, enableOfflineQueue: false, lazyConnect: true, retryStrategy: reconnectDelay, db: target.database };
  if (target.kind === 'server') return new Redis({ ...single, ...target.server });
  const sentinels = target.sentinels.map(({ host, port }) => ({ host, port }));
  return new Redis({
    ...single,
    sentinels,
    name: target.name,
    sentinelRetryStrategy: reconnectDelay,
    sentinelCommandTimeout: commandTimeoutMs,
  });
}

function reconnectDelay(times: number): number {
  return Math.min(50 * times, RECONNECT_MAX_MS);
}
