// Opens the configured store for processes that do not serve callers (commands, and the primary of
// several workers), with the clock of this machine, and waits for a store that does not answer yet.
import type { DocumentStore } from '../ports/documents.ts';
import type { RefusalDays } from '../ports/usage-history.ts';
import { SECOND_MS } from '../config/config.ts';
import type { Config } from '../config/config.ts';
import type { LoadedPlugins } from '../config/plugins.ts';
import type { JudgedClock } from '../domain/clock-judge.ts';
import { StoreAwayError, StoreError } from '../domain/store-unavailable.ts';
import { storeKindOf, withoutCredentials } from '../domain/store-url.ts';
import type { Log } from '../ports/log.ts';
import type { Store, StoreCreation } from '../ports/store.ts';
import { openStore } from '../stores/open.ts';
import { openMachineClock } from '../stores/records/store-clock.ts';

/** A command reports a failure in its own line; what a store logs is only for the gateway's log. */
export const SILENT: Log = { info: () => undefined, warn: () => undefined, error: () => undefined };

interface ConfiguredStore {
  readonly store: Store;
  /** The clock of this process, by which an embedded store goes. */
  readonly clock: JudgedClock;
  /** Closes the store, and the plugin that it came from. */
  close(): Promise<void>;
}

/** Rejects with a `StoreError`, or with a `ConfigError` for the plugin that should provide it. */
export async function openConfiguredStore(config: Config, creation: StoreCreation = {}, log: Log = SILENT): Promise<ConfiguredStore> {
  const plugins = await pluginsFor(config, log);
  try {
    const clock = openMachineClock();
    const store = await openStore(config.store, {
      log,
      clock,
      ...storeOptionsOf(config),
      others: plugins.stores,
      ...creation,
    });
    return {
      store,
      clock,
      async close() {
        await store.close();
        await plugins.close();
      },
    };
  } catch (error) {
    await plugins.close();
    throw error;
  }
}

/** No caller waits for a command: five seconds, unless `command_timeout_ms` allows more. */
const PATIENCE_MS = 5000;

/** The same for a command. */
export function openPatiently(config: Config, creation: StoreCreation): Promise<ConfiguredStore> {
  const { store_options: options } = config;
  const patient = { ...options, command_timeout_ms: Math.max(options.command_timeout_ms, PATIENCE_MS) };
  return openConfiguredStore({ ...config, store_options: patient }, creation);
}

export function storeOptionsOf({ store_options: options, history, events }: Config) {
  return {
    durability: options.sqlite_durability,
    commandTimeoutMs: options.command_timeout_ms,
    historyDays: history.days,
    events: events?.rules,
  };
}

/** Plugins are only loaded, as one may provide the store, if its URL is not one of ours. */
async function pluginsFor({ store, plugins }: Config, log: Log): Promise<Pick<LoadedPlugins, 'stores' | 'close'>> {
  const { loadPlugins, NO_PLUGINS } = await import('../config/plugins.ts');
  return storeKindOf(store) === undefined ? loadPlugins(plugins, log) : NO_PLUGINS;
}

const TELL_EVERY_MS = 5000;
const TRY_EVERY_MS = 250;

/**
 * Calls `open` while the store is down and `store_options.wait_seconds` last, and logs that every
 * five seconds. Rejects with a `StoreError`, at once if waiting would not help.
 */
export async function openAwaited<T>({ store, store_options: options }: Config, log: Log, open: () => Promise<T>): Promise<T> {
  const waitMs = options.wait_seconds * SECOND_MS;
  if (waitMs === 0) return open();
  const startedAtMs = performance.now();
  const waitedMs = (): number => performance.now() - startedAtMs;
  let reason: string | undefined;
  const tell = (): void =>
    log.warn('waiting for the store', {
      store: withoutCredentials(store),
      waited_seconds: seconds(waitedMs()),
      wait_seconds: seconds(waitMs),
      reason,
    });
  const telling = setInterval(tell, TELL_EVERY_MS);
  try {
    for (;;) {
      try {
        return await open();
      } catch (error) {
        if (!(error instanceof StoreAwayError)) throw error;
        const isFirst = reason === undefined;
        reason = error.message;
        if (isFirst) tell();
        const leftMs = waitMs - waitedMs();
        if (leftMs <= 0)
          throw new StoreError(`${error.message}; it did not answer within the ${seconds(waitMs)} s of store_options.wait_seconds`);
        await new Promise((resolve) => setTimeout(resolve, Math.min(TRY_EVERY_MS, leftMs)));
      }
    }
  } finally {
    clearInterval(telling);
  }
}

function seconds(ms: number): number {
  return Math.round(ms / 1000);
}

/** The refusals that gateways have counted in this store. */
export function refusalDaysOf({ records }: Store, { history }: Pick<Config, 'history'>): RefusalDays {
  return {
    // Few commands read them.
    async sum(teamId, range) {
      const { recordRefusals } = await import('../stores/records/record-refusals.ts');
      return recordRefusals(records, history.days).sum(teamId, range);
    },
  };
}

/** The documents of a store for operators, who see none of their files. */
export async function documentsOf({ records }: Pick<Store, 'records'>, nowMs: () => number): Promise<DocumentStore> {
  const { recordDocuments } = await import('../stores/records/record-documents.ts');
  return recordDocuments(records, nowMs);
}
