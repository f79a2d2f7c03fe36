// The line that a gateway logs when it is ready: version, store, configuration, engines.
import { adviceOn } from './config-advice.ts';
import type { Config } from '../config/config.ts';
import { withoutCredentials } from '../domain/store-url.ts';
import type { Log } from '../ports/log.ts';
import type { Listening } from './public-listener.ts';
import { versionOf } from './version.ts';

interface Ready {
  readonly listenUrl: string;
  readonly opsUrl: string;
  readonly listening: Listening;
  readonly workers: number;
}

const CAUSES = {
  no_binary: 'cannot be loaded',
  replaced: 'cannot be loaded',
  streams: 'does not stream',
} as const;

/** Comes after the warnings about the configuration. */
export function announceReady(log: Log, config: Config, { listenUrl, opsUrl, listening, workers }: Ready): void {
  const { sources } = config;
  for (const reason of sources.warnings) log.warn('the environment has variables that mean nothing', { reason });
  for (const reason of adviceOn(config)) log.warn('the configuration is valid, but probably not what is meant', { reason });
  if (listening.withoutUws !== undefined) {
    const { cause, why } = listening.withoutUws;
    log[cause === 'replaced' ? 'warn' : 'info'](`listener: auto is node:http, because uWebSockets.js ${CAUSES[cause]}`, { reason: why });
  }
  log.info(`lingate is ready on ${listenUrl}, ops on ${opsUrl}`, {
    version: versionOf(),
    store: withoutCredentials(config.store),
    store_from: sources.store,
    config: config.file,
    engines: engineUrls(config),
    engines_from: sources.engineUrls,
    listener: listening.library,
    workers,
  });
}

/** With several engines, each URL is preceded by its engine's name. */
export function engineUrls({ engines }: Pick<Config, 'engines'>): readonly string[] {
  if (engines.length === 1) return engines[0]!.urls;
  return engines.flatMap(({ name, urls }) => urls.map((url) => `${name}: ${url}`));
}
