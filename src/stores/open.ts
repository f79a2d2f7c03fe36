// Opens the store that a URL names; loads only the code of that store, so that SQLite users never load the Redis client.
import { HISTORY_DAYS } from '../domain/period.ts';
import { otherSchemeOf, STORE_URL_FORMS, sqlitePathOf, storeKindOf, withoutCredentials } from '../domain/store-url.ts';
import { StoreError } from '../domain/store-unavailable.ts';
import type { Clock } from '../ports/clock.ts';
import type { OpenPluginStore } from '../ports/plugin.ts';
import type { Store, StoreOpening } from '../ports/store.ts';

interface StoreContext extends StoreOpening {
  /** The clock of an embedded store and of a plugin's; Redis uses its own. */
  readonly clock: Clock;
  /** Of a SQLite file. */
  readonly durability?: 'full' | 'normal';
  /** Whether this process takes turns with others to maintain idle teams, as gateways do. */
  readonly maintains?: boolean;
  /** Stores of plugins, by URL scheme. */
  readonly others?: ReadonlyMap<string, OpenPluginStore>;
}

/** A tenth of the ten seconds within which a period must be closed. */
const MAINTAIN_EVERY_MS = 1000;

/** Rejects with a `StoreError` if the URL is of no known kind or the store cannot be opened. */
export async function openStore(url: string, context: StoreContext): Promise<Store> {
  const { log, clock, historyDays = HISTORY_DAYS, events, mayCreate = true, onCreated, maintains = false } = context;
  const kind = storeKindOf(url);
  if (kind === 'sqlite') {
    const { openSqliteStore } = await import('./sqlite/sqlite-store.ts');
    return openSqliteStore({ ...context, path: sqlitePathOf(url), cleansUp: maintains });
  }
  if (kind === 'redis') {
    const { openRedisStore } = await import('./redis/redis-store.ts');
    return openRedisStore({ ...context, url, clock: undefined, maintainEveryMs: maintains ? MAINTAIN_EVERY_MS : undefined });
  }
  const open = context.others?.get(otherSchemeOf(url) ?? '');
  if (open !== undefined) {
    const { toServe, withCallbacks } = await import('./records/plugin-store.ts');
    const opened = await open(url, { log, clock, historyDays, mayCreate, onCreated });
    return toServe(opened, withCallbacks(opened.ledger), withoutCredentials(url), { log, clock, events });
  }
  throw new StoreError(`store ${withoutCredentials(url)}: must be one of ${STORE_URL_FORMS}`);
}
