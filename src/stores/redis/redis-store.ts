// The Redis store: connects, checks the servers, and provides the ports.
import type { ClockMark } from '../../domain/clock-judge.ts';
import { HISTORY_DAYS } from '../../domain/period.ts';
import { StoreAwayError, StoreError } from '../../domain/store-unavailable.ts';
import type { Clock } from '../../ports/clock.ts';
import type { WholeAccounts } from '../../ports/whole-accounts.ts';
import type { Store, StoreOpening } from '../../ports/store.ts';
import { assertComplete } from '../records/copy-mark.ts';
import { overRecords } from '../records/over-records.ts';
import { UsageEvents } from '../records/usage-events.ts';
import { rowHistory } from '../records/usage-rows.ts';
import { beginClock, storeClock } from '../records/store-clock.ts';
import { mayLoadLater } from './function-library.ts';
import { LedgerTurns } from './ledger-turns.ts';
import { Postbox } from './postbox.ts';
import { redisAccounts } from './redis-accounts.ts';
import { RedisBlobs } from './redis-blobs.ts';
import { causeOf, isForbidden, isNoMaster, mastersOf, redisConnection, within } from './redis-connection.ts';
import type { RedisConnection } from './redis-connection.ts';
import { RedisGroups } from './redis-groups.ts';
import { RedisJanitor } from './redis-janitor.ts';
import { keyDirectory, RedisLink } from './redis-link.ts';
import { redisRecords } from './redis-records.ts';
import { redisTeamRegistry } from './redis-teams.ts';
import { parseRedisUrl } from './redis-url.ts';
import type { RedisTarget } from './redis-url.ts';
import { redisUsage } from './redis-usage.ts';
import { ServerClocks } from './server-clocks.ts';
import { checkLayout, checkServer, writeProbe } from './server-health.ts';
import { TeamAccounts } from './team-accounts.ts';
import { RedisTeamErasure } from './redis-team-erasure.ts';
import { TeamIndex } from './team-index.ts';

export interface RedisStoreOptions extends StoreOpening {
  readonly url: string;
  /** Used instead of the servers' clocks by tests that control time. */
  readonly clock?: Clock | undefined;
  /** How often this process maintains teams that nobody uses; `undefined` unless it is a gateway. */
  readonly maintainEveryMs?: number | undefined;
  /** Also opens a store into which a copy is not complete: for what reads or writes all of it. */
  readonly whole?: boolean;
}

/** What reads, copies and repairs a store needs besides. */
export interface RedisStore extends Store {
  readonly accounts: WholeAccounts;
  readonly link: RedisLink;
  readonly index: TeamIndex;
}

const COMMAND_TIMEOUT_MS = 500;
const OPEN_TIMEOUT_MS = 5000;

/** Rejects with a `StoreError` if the URL is invalid, or the store cannot be reached or must not be used. */
export async function openRedisStore(options: RedisStoreOptions): Promise<RedisStore> {
  const target = parseRedisUrl(options.url);
  const { log, clock, commandTimeoutMs: timeoutMs = COMMAND_TIMEOUT_MS } = options;
  const redis = redisConnection(target, timeoutMs);
  const link = new RedisLink({ redis, shown: target.shown, timeoutMs, clocks: new ServerClocks(clock), log });
  try {
    await within(connect(link, options), OPEN_TIMEOUT_MS);
  } catch (error) {
    redis.disconnect();
    throw error instanceof StoreError ? error : unreachable(target, causeOf(error));
  }
  try {
    return await assembled(link, redisConnection(target, timeoutMs), options);
  } catch (error) {
    await link.close();
    throw error;
  }
}

/** `bulk`: a second connection, not connected yet, for large blobs. */
async function assembled(
  link: RedisLink,
  bulk: RedisConnection,
  { clock: given, historyDays = HISTORY_DAYS, maintainEveryMs, events, log, whole = false }: RedisStoreOptions,
): Promise<RedisStore> {
  const { clocks } = link;
  const nowMs = (): number => clocks.nowMs();
  const blobs = new RedisBlobs(link, bulk);
  const postbox: Postbox = new Postbox(link, () => ({ records, audit }));
  const groups = new RedisGroups(link, postbox);
  const index = new TeamIndex(link);
  const accounts = new TeamAccounts(groups);
  const records = redisRecords(accounts, blobs, index);
  const clock = given ?? {
    nowMs,
    step: () => clocks.step(),
    read: () => link.ask((redis) => clocks.read(redis)),
    begin: (mark: ClockMark) => clocks.begin(mark),
    compare: (latestMs: number | undefined) => clocks.compare(latestMs),
  };
  await beginClock(records, clock, log);
  if (!whole) await assertComplete(records, link.shown);
  const over = overRecords(records, nowMs, historyDays);
  const { audit, idempotency } = over;
  const erasure = new RedisTeamErasure({ accounts, index, audit, postbox, records, idempotency });
  const teams = redisTeamRegistry(accounts, index, records, erasure);
  const history = rowHistory(redisUsage(accounts, index), nowMs, historyDays);
  const turns = new LedgerTurns(link, (teamId) => accounts.catchUp(teamId));
  const usage = events && new UsageEvents({ teams, history, records, rules: events, nowMs });
  const maintained = { accounts, index, erasure, postbox, records, audit, idempotency, log, retainedDays: historyDays };
  const janitor = maintainEveryMs === undefined ? undefined : new RedisJanitor({ ...maintained, everyMs: maintainEveryMs });
  // From now on its operations store events.
  if (events !== undefined) await over.outbox.lease('', 0);
  return {
    keys: keyDirectory(link),
    ledger: usage?.watched(turns) ?? turns,
    teams,
    ...over,
    history,
    outbox: usage?.before(over.outbox) ?? over.outbox,
    clock: storeClock(records, clock),
    ping: writeProbe(link),
    close: async () => {
      await janitor?.close();
      await turns.close();
      await link.close();
      bulk.disconnect();
    },
    accounts: redisAccounts({ groups, blobs, index }),
    link,
    index,
  };
}

async function connect({ redis, shown, functions }: RedisLink, options: RedisStoreOptions): Promise<void> {
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
  await Promise.all(mastersOf(redis).map((node) => checkServer(node, shown, options.log)));
  await checkLayout(redis, shown, options);
  try {
    await functions.load();
  } catch (error) {
    // A server that is read-only now may be writable later; the first call then loads the functions.
    if (mayLoadLater(error)) return;
    if (!isForbidden(error)) throw error;
    throw new StoreError(`the store ${shown} does not permit loading its functions: allow the user +fcall and +function`);
  }
}

function unreachable({ shown, tls }: RedisTarget, reason: string): StoreError {
  const certificate = tls ? ', or trust its certificate (NODE_EXTRA_CA_CERTS)' : '';
  const credentials = ['noauth', 'wrongpass', 'noperm'].includes(reason);
  const advice = credentials ? "put the right user and password into the store's URL" : `start it or correct the store's URL${certificate}`;
  const message = `the store ${shown} cannot be used (${reason}): ${advice}`;
  // Waiting does not help against a wrong password.
  return credentials ? new StoreError(message) : new StoreAwayError(message);
}
