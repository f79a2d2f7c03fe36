// The Redis store: connects, checks the servers, and provides the ports.
import { NO_THRESHOLDS } from '../../domain/event-rules.ts';
import type { EventRules } from '../../domain/event-rules.ts';
import { DAY_MS, HISTORY_DAYS } from '../../domain/period.ts';
import { StoreAwayError, StoreError } from '../../domain/store-unavailable.ts';
import { unjudgedClock } from '../../domain/judged-clock.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import type { Store, StoreCreation } from '../../ports/store.ts';
import { overRecords } from '../records/over-records.ts';
import { BulkConnection, RedisBlobs } from './redis-blobs.ts';
import { checkLayout } from './layout-version.ts';
import { causeOf, isNoMaster, within } from './failure-cause.ts';
import { mastersOf, redisConnection } from './redis-connection.ts';
import type { RedisConnection } from './redis-connection.ts';
import { beginClocks, RedisClock } from './redis-clock.ts';
import { RedisAuditLog } from './redis-audit-log.ts';
import { RedisJanitor } from './redis-janitor.ts';
import { RedisFunctions, mayLoadLater } from './functions.ts';
import { keyDirectory, RedisLink } from './redis-link.ts';
import { RedisOutbox, rulesInForce } from './redis-outbox.ts';
import { RedisRecords } from './redis-records.ts';
import { RedisTeamRegistry } from './redis-team-registry.ts';
import { RedisUsageHistory } from './redis-usage-history.ts';
import { Replication } from './replication.ts';
import { parseRedisUrl } from './redis-url.ts';
import type { RedisTarget } from './redis-url.ts';
import { ServerClocks } from './server-clocks.ts';
import type { SimulatedServers } from './server-clocks.ts';
import { checkServer } from './server-checks.ts';
import { writeProbe } from './write-probe.ts';

export interface RedisStoreOptions {
  readonly url: string;
  readonly log: Log;
  /** How long one operation may take before it counts as unavailable. */
  readonly commandTimeoutMs?: number | undefined;
  /** Used instead of the servers' clocks by tests that control time. */
  readonly clock?: Clock | undefined;
  /** Stands for the clocks of the servers in tests, and is judged like them. */
  readonly servers?: SimulatedServers | undefined;
  /** How many days usage and audit entries are kept. */
  readonly historyDays?: number | undefined;
  /** How often this process tends idle teams; `undefined` unless it is a gateway. */
  readonly tendEveryMs?: number | undefined;
  /** Called with the number of revocations that a new master had lost and that were applied again. */
  readonly onRestored?: ((count: number) => void) | undefined;
  readonly creation?: StoreCreation;
  /** By default the rules of the gateway that sends events from this store; if there is none, no events are stored. */
  readonly events?: EventRules | undefined;
}

const COMMAND_TIMEOUT_MS = 500;
const OPEN_TIMEOUT_MS = 5000;

/** Rejects with a `StoreError` if the URL is invalid, or the store cannot be reached or must not be used. */
export async function openRedisStore(options: RedisStoreOptions): Promise<Store> {
  const target = parseRedisUrl(options.url);
  const commandTimeoutMs = options.commandTimeoutMs ?? COMMAND_TIMEOUT_MS;
  const redis = redisConnection(target, commandTimeoutMs);
  const functions = new RedisFunctions(redis);
  const { clock, servers } = options;
  const clocks = new ServerClocks({ clock, servers });
  let events: EventRules | undefined;
  try {
    events = await within(connect(redis, functions, target, options, clocks), OPEN_TIMEOUT_MS);
  } catch (error) {
    redis.disconnect();
    throw error instanceof StoreError ? error : unreachable(target, causeOf(error));
  }
  const link = new RedisLink({
    redis,
    shown: target.shown,
    commandTimeoutMs,
    clocks,
    log: options.log,
    onRestored: options.onRestored ?? (() => undefined),
    run: functions.run,
    keepsEvents: events !== undefined,
  });
  // A replica or a full server is opened too, because it can still be read.
  await link.settleMasters();
  const { historyDays = HISTORY_DAYS, tendEveryMs: everyMs, log } = options;
  const audit = new RedisAuditLog({ link, keptMs: historyDays * DAY_MS, prunes: everyMs !== undefined });
  const bulk = new BulkConnection(() => redisConnection(target, commandTimeoutMs));
  const over = overRecords(new RedisRecords({ link, blobs: new RedisBlobs(link, bulk), audit }), () => believedMs(clocks));
  const { idempotency } = over;
  const teams = new RedisTeamRegistry(link, new Replication(link, target, commandTimeoutMs), audit, over, historyDays);
  const tending = { link, index: teams.index, erasure: teams.erasure, idempotency, audit, log, keptDays: historyDays };
  const janitor = everyMs === undefined ? undefined : new RedisJanitor({ ...tending, everyMs });
  return {
    keys: keyDirectory(link),
    ledger: link.ledger,
    teams,
    ...over,
    history: new RedisUsageHistory(link, teams.index, historyDays),
    audit,
    outbox: new RedisOutbox({ link, index: teams.index, rules: events ?? NO_THRESHOLDS }),
    clock: clock === undefined ? new RedisClock(link, clocks, servers) : unjudgedClock(clock),
    ping: writeProbe(link),
    close: async () => {
      audit.close();
      await janitor?.close();
      await link.close();
      bulk.close();
    },
  };
}

function believedMs(clocks: ServerClocks): number | undefined {
  const nowMs = clocks.now();
  return nowMs === undefined ? undefined : Math.floor(nowMs);
}

async function connect(
  redis: RedisConnection,
  functions: RedisFunctions,
  target: RedisTarget,
  { log, creation = {}, clock, servers, events }: RedisStoreOptions,
  clocks: ServerClocks,
): Promise<EventRules | undefined> {
  let last: unknown;
  let listen = (_error: unknown) => {};
  const noMaster = new Promise<never>((_resolve, reject) => {
    listen = (error) => {
      last = error;
      // ioredis would go on asking all sentinels for ever.
      if (isNoMaster(error)) reject(new Error('no master'));
    };
  });
  redis.on('error', listen);
  try {
    await Promise.race([redis.connect(), noMaster]);
  } catch (error) {
    // The rejection only says that the connection was closed; the error event before it has the reason.
    throw last ?? error;
  } finally {
    redis.off('error', listen);
  }
  await Promise.all(mastersOf(redis).map((node) => checkServer(node, target.shown, log)));
  await checkLayout(redis, target.shown, creation);
  if (clock === undefined) await beginClocks(redis, clocks, servers);
  const rules = events ?? (await rulesInForce(redis, clocks));
  functions.keepEvents(rules);
  await loadFunctions(functions, target.shown);
  return rules;
}

async function loadFunctions(functions: RedisFunctions, shown: string): Promise<void> {
  try {
    await functions.load();
  } catch (error) {
    // A server that is read-only now may be writable later; the first call then loads the functions.
    if (mayLoadLater(error)) return;
    if (!['noperm', 'refused'].includes(causeOf(error))) throw error;
    throw new StoreError(`the store ${shown} does not permit loading its functions: allow the user +fcall and +function`);
  }
}

function unreachable({ shown, tls }: Pick<RedisTarget, 'shown' | 'tls'>, reason: string): StoreError {
  const certificate = tls ? ', or trust its certificate (NODE_EXTRA_CA_CERTS)' : '';
  const credentials = ['noauth', 'wrongpass', 'noperm'].includes(reason);
  const advice = credentials ? "put the right user and password into the store's URL" : `start it or correct the store's URL${certificate}`;
  const message = `the store ${shown} cannot be used (${reason}): ${advice}`;
  // Waiting does not help against a wrong password.
  return credentials ? new StoreError(message) : new StoreAwayError(message);
}
