// Reloads the configuration on SIGHUP, and applies what may change while running; a wrong one changes nothing.
import { ConfigError } from '../config/config-error.ts';
import type { Config } from '../config/config.ts';
import type { Log } from '../ports/log.ts';
import { engineUrls } from './ready-line.ts';

export interface Reloadable {
  readonly log: Log;
  /** The configuration in force. */
  readonly config: Config;
  /** See `App.reload`. */
  reload(next: Config): readonly string[];
}

/** `load` reads the sources that the command line named, for a gateway that runs with the given configuration. Never rejects: faults are logged. */
export async function reload(app: Reloadable, load: (running: Config) => Promise<Config>): Promise<void> {
  const { log } = app;
  try {
    const next = await load(app.config);
    const waiting = app.reload(next);
    const { languages, plans, file } = next;
    const counts = { sources: languages.sources.length, targets: languages.targets.length };
    const rules = next.routing === undefined ? {} : { routing_rules: next.routing.length };
    log.info('configuration reloaded', {
      file,
      ...counts,
      engine_urls: engineUrls(next).join(' '),
      ...rules,
      plans: [...plans.keys()].join(' '),
    });
    if (waiting.length > 0) log.warn('these members have changed and wait for a restart', { members: waiting.join(' ') });
  } catch (error) {
    for (const fault of faultsOf(error)) log.error('configuration refused: all stays as it was', { fault });
  }
}

function faultsOf(error: unknown): readonly string[] {
  if (error instanceof ConfigError) return error.lines;
  return [error instanceof Error ? error.message : String(error)];
}
