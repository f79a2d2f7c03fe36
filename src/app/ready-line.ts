// The line that a gateway logs when it is ready, which answers "where am I?": version, store, configuration, engines.
import type { Config } from '../config/config.ts';
import { withoutCredentials } from '../domain/store-url.ts';
import type { Log } from '../ports/log.ts';
import { versionOf } from './version.ts';

export interface Ready {
  readonly listenUrl: string;
  readonly opsUrl: string;
  /** The HTTP library, with its version. */
  readonly listener: string;
  readonly workers: number;
}

/** After what the configuration gives cause to warn of. */
export function announceReady(log: Log, config: Config, { listenUrl, opsUrl, listener, workers }: Ready): void {
  const { sources, engine } = config;
  for (const reason of sources.warnings) log.warn('the environment has variables that mean nothing', { reason });
  log.info(`lingate is ready on ${listenUrl}, ops on ${opsUrl}`, {
    version: versionOf(),
    store: withoutCredentials(config.store),
    store_from: sources.store,
    config: sources.fileNamed ? config.file : 'none',
    engines: engine.urls,
    engines_from: sources.engineUrls,
    listener,
    workers,
  });
}
