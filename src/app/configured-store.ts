// Opens the configured store for processes that do not serve callers: commands, and the primary of several workers.
import type { Config } from '../config/config.ts';
import type { LoadedPlugins } from '../config/plugins.ts';
import { storeKindOf } from '../domain/store-url.ts';
import type { Log } from '../ports/log.ts';
import type { Store, StoreCreation } from '../ports/store.ts';
import { openStore } from '../stores/open.ts';

export interface ConfiguredStore {
  readonly store: Store;
  /** Closes the store, and the plugin that it came from. */
  close(): Promise<void>;
}

/** Rejects with a `StoreError` if the store cannot be opened, or a `ConfigError` for the plugin that should provide it. */
export async function openConfiguredStore(config: Config, log: Log, creation: StoreCreation = {}): Promise<ConfiguredStore> {
  const plugins = await pluginsFor(config, log);
  try {
    const clock = { nowMs: () => Date.now() };
    const { storeOptions, history, events } = config;
    const store = await openStore(config.store, {
      log,
      clock,
      ...storeOptions,
      historyDays: history.days,
      events: events?.rules,
      others: plugins.stores,
      ...creation,
    });
    return {
      store,
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

/** Plugins are only loaded if the store's URL is not one of ours, so that a plugin may provide the store. */
async function pluginsFor({ store, plugins }: Config, log: Log): Promise<Pick<LoadedPlugins, 'stores' | 'close'>> {
  const { loadPlugins, NO_PLUGINS } = await import('../config/plugins.ts');
  return storeKindOf(store) === undefined ? loadPlugins(plugins, log) : NO_PLUGINS;
}
