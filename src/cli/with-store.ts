// Opens the configured store for the length of one command, which may make one only where it says so.
import type { Config } from '../config/config.ts';
import { NoStoreError } from '../domain/store-error.ts';
import type { Log } from '../ports/log.ts';
import type { Store } from '../ports/store.ts';
import type { CommandContext } from './command.ts';
import { CommandFailure } from './failure.ts';

/** Rejects with a `StoreError` when there is no store to be had, or a `CommandFailure` when none was ever made there. */
export async function withStore(context: CommandContext, use: (store: Store, config: Config) => Promise<void>): Promise<void> {
  const config = await context.config();
  const { openConfiguredStore } = await import('../app/configured-store.ts');
  const { name, makesStore = false } = context.command;
  const onCreated = (place: string): void => context.io.err(newStoreText(name, place));
  const opened = await openConfiguredStore(config, SILENT, { mayCreate: makesStore, onCreated }).catch((error: unknown) => {
    throw error instanceof NoStoreError ? new CommandFailure(missing(error, config)) : error;
  });
  try {
    await use(opened.store, config);
  } finally {
    await opened.close();
  }
}

/** What a command prints on standard error when it has made a store. */
export function newStoreText(command: string, place: string): string {
  return `lingate ${command}: made a new database, ${place}\n`;
}

function missing({ place }: NoStoreError, { sources }: Config): string {
  const origin = sources.store === 'the default' ? 'which is the default, because nothing names a store' : `which ${sources.store} names`;
  return `there is no database at ${place}, ${origin}; name the right one by --store, LINGATE_STORE or the configuration, or make this one by "lingate team create" or "lingate serve"`;
}

/** A command reports a failure in its own line; what a store logs besides belongs into the gateway's log. */
const SILENT: Log = { info: () => undefined, warn: () => undefined, error: () => undefined };
