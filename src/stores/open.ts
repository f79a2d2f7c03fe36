// Opens the store that a URL names; loads only that store's code, so that a SQLite user never loads the Redis client.
import type { EventRules } from '../domain/event-rules.ts';
import { otherSchemeOf, STORE_URL_FORMS, sqlitePathOf, storeKindOf, withoutCredentials } from '../domain/store-url.ts';
import { StoreError } from '../domain/store-unavailable.ts';
import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';
import type { OpenPluginStore } from '../ports/plugin.ts';
import type { Store, StoreCreation } from '../ports/store.ts';
import { fromPlugin } from './plugin-store.ts';

export interface StoreContext extends StoreCreation {
  readonly log: Log;
  /** The embedded store's own time; a store on another machine has its own. */
  readonly clock: Clock;
  readonly sqliteDurability?: 'full' | 'normal';
  /** How long an operation may take or wait; the store's own default without it. */
  readonly commandTimeoutMs?: number;
  /** How many days of usage are kept; the default without it. */
  readonly historyDays?: number;
  /** Whether this process looks after teams for which nobody asks, in turn with others: gateways do. */
  readonly tends?: boolean;
  /** Told how many lost revocations a store's new master was told again. */
  readonly onRevocationsRestored?: (count: number) => void;
  /** What is kept in the outbox; without it, what the gateways that send from it keep. A plugin's store keeps nothing. */
  readonly events?: EventRules | undefined;
  /** Stores of plugins, by the scheme of their URLs. */
  readonly others?: ReadonlyMap<string, OpenPluginStore>;
}

/** Of what a period has to be closed within, ten seconds, a tenth. */
const TEND_EVERY_MS = 1000;

/** Rejects with a `StoreError` when the URL is of no known kind or the store cannot be opened. */
export async function openStore(url: string, context: StoreContext): Promise<Store> {
  const { log, clock, sqliteDurability, commandTimeoutMs, historyDays, events } = context;
  const { mayCreate = true, onCreated, mayMigrate = true, onMigrated } = context;
  const creation = { mayCreate, onCreated, mayMigrate, onMigrated };
  const kept = historyDays === undefined ? {} : { historyDays };
  switch (storeKindOf(url)) {
    case 'sqlite': {
      const { openSqliteStore } = await import('./sqlite/sqlite-store.ts');
      const durability = sqliteDurability === undefined ? {} : { durability: sqliteDurability };
      const patience = commandTimeoutMs === undefined ? {} : { busyTimeoutMs: commandTimeoutMs };
      return openSqliteStore({ path: sqlitePathOf(url), log, clock, ...durability, ...patience, ...kept, creation, events });
    }
    case 'redis': {
      const { openRedisStore } = await import('./redis/redis-store.ts');
      const { onRevocationsRestored: onRestored } = context;
      const restored = onRestored === undefined ? {} : { onRestored };
      const patience = commandTimeoutMs === undefined ? {} : { commandTimeoutMs };
      const tending = context.tends === true ? { tendEveryMs: TEND_EVERY_MS } : {};
      return openRedisStore({ url, log, creation, ...restored, ...patience, ...kept, ...tending, events });
    }
    case undefined:
    default: {
      const open = context.others?.get(otherSchemeOf(url) ?? '');
      if (open !== undefined) return fromPlugin(await open(url, { log, clock, ...creation }));
      throw new StoreError(`store ${withoutCredentials(url)}: must be one of ${STORE_URL_FORMS}`);
    }
  }
}
