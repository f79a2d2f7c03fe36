// Opens the store that a URL names; loads only the code of that store, so that SQLite users never load the Redis client.
import type { EventRules } from '../domain/event-rules.ts';
import { HISTORY_DAYS } from '../domain/period.ts';
import { otherSchemeOf, STORE_URL_FORMS, sqlitePathOf, storeKindOf, withoutCredentials } from '../domain/store-url.ts';
import { StoreError } from '../domain/store-unavailable.ts';
import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';
import type { OpenPluginStore } from '../ports/plugin.ts';
import type { Store, StoreCreation } from '../ports/store.ts';

interface StoreContext extends StoreCreation {
  readonly log: Log;
  /** The clock of an embedded store and of a plugin's; Redis uses its own. */
  readonly clock: Clock;
  readonly sqliteDurability?: 'full' | 'normal';
  /** Timeout of an operation, including waiting; by default the store's own. */
  readonly commandTimeoutMs?: number;
  /** How many days of usage to keep. */
  readonly historyDays?: number;
  /** Whether this process takes turns with others to maintain idle teams, as gateways do. */
  readonly maintains?: boolean;
  /** Rules for the outbox; by default those of the gateways that send from it. */
  readonly events?: EventRules | undefined;
  /** Stores of plugins, by URL scheme. */
  readonly others?: ReadonlyMap<string, OpenPluginStore>;
}

/** A tenth of the ten seconds within which a period must be closed. */
const MAINTAIN_EVERY_MS = 1000;

/** Rejects with a `StoreError` if the URL is of no known kind or the store cannot be opened. */
export async function openStore(url: string, context: StoreContext): Promise<Store> {
  const { log, clock, commandTimeoutMs, historyDays, events, mayCreate = true, onCreated } = context;
  const creation = { mayCreate, onCreated };
  const kind = storeKindOf(url);
  if (kind === 'sqlite') {
    const { openSqliteStore } = await import('./sqlite/sqlite-store.ts');
    const own = { durability: context.sqliteDurability, busyTimeoutMs: commandTimeoutMs, cleansUp: context.maintains === true };
    return openSqliteStore({ path: sqlitePathOf(url), log, clock, ...own, historyDays, creation, events });
  }
  if (kind === 'redis') {
    const { openRedisStore } = await import('./redis/redis-store.ts');
    const maintainEveryMs = context.maintains === true ? MAINTAIN_EVERY_MS : undefined;
    return openRedisStore({ url, log, creation, commandTimeoutMs, historyDays, maintainEveryMs, events });
  }
  const open = context.others?.get(otherSchemeOf(url) ?? '');
  if (open !== undefined) {
    const { toServe, withCallbacks } = await import('./records/plugin-store.ts');
    const opened = await open(url, { log, clock, historyDays: historyDays ?? HISTORY_DAYS, ...creation });
    return toServe(opened, withCallbacks(opened.ledger), withoutCredentials(url), { log, clock, events });
  }
  throw new StoreError(`store ${withoutCredentials(url)}: must be one of ${STORE_URL_FORMS}`);
}
