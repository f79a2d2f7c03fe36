// Opens the configured store for the length of one command.
import type { Config } from '../config/config.ts';
import type { Log } from '../ports/log.ts';
import type { Store } from '../ports/store.ts';
import type { CommandContext } from './command.ts';

/** Rejects with a `StoreError` when there is no store to be had. */
export async function withStore(context: CommandContext, use: (store: Store, config: Config) => Promise<void>): Promise<void> {
  const config = await context.config();
  const { openConfiguredStore } = await import('../app/configured-store.ts');
  const opened = await openConfiguredStore(config, SILENT);
  try {
    await use(opened.store, config);
  } finally {
    await opened.close();
  }
}

/** A command reports a failure in its own line; what a store logs besides belongs into the gateway's log. */
const SILENT: Log = { info: () => undefined, warn: () => undefined, error: () => undefined };
