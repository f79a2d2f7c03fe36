// Opens the configured store for the length of one command.
import type { Config } from '../config/config.ts';
import type { LoadedPlugins } from '../config/plugins.ts';
import { storeKindOf } from '../domain/store-url.ts';
import type { Log } from '../ports/log.ts';
import type { Store } from '../ports/store.ts';
import type { CommandContext } from './command.ts';

/** Rejects with a `StoreError` when there is no store to be had. */
export async function withStore(context: CommandContext, use: (store: Store, config: Config) => Promise<void>): Promise<void> {
  const config = await context.config();
  const { openStore } = await import('../stores/open.ts');
  const clock = { nowMs: () => Date.now() };
  const plugins = await pluginsFor(config);
  const store = await openStore(config.store, { log: SILENT, clock, ...config.storeOptions, others: plugins.stores });
  try {
    await use(store, config);
  } finally {
    await store.close();
    await plugins.close();
  }
}

/** Plugins are loaded only when the store's URL is of none of our kinds, so that a plugin may bring it. */
async function pluginsFor({ store, plugins }: Config): Promise<Pick<LoadedPlugins, 'stores' | 'close'>> {
  const { loadPlugins, NO_PLUGINS } = await import('../config/plugins.ts');
  return storeKindOf(store) === undefined ? loadPlugins(plugins, SILENT) : NO_PLUGINS;
}

/** A failure reaches the person as the command's own line; what a store notes besides is for the gateway's log. */
const SILENT: Log = { info: () => undefined, warn: () => undefined, error: () => undefined };
