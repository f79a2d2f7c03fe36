// Loads the configuration when nobody is writing its files: two looks at all of them must agree.
import { setTimeout as delay } from 'node:timers/promises';
import { ConfigError, labelOf } from './config-error.ts';
import type { Config } from './config.ts';
import { FileSet } from './file-set.ts';
import { loadConfig } from './load.ts';
import type { ConfigSources } from './load.ts';

const BETWEEN_LOOKS_MS = 200;
const TRIES_MAX = 10;

export interface SettledLoad {
  readonly files: FileSet;
  /** The configuration in the files, or throws a `ConfigError`. */
  readonly config: () => Config;
}

interface LoadOptions {
  /**
   * Whether to take a second look in any case, as a running gateway does, for which nobody waits: the clock of a file server may be
   * another. Otherwise only if a file was changed within the last second, so that commands do not all start 200 ms later.
   */
  readonly twice: boolean;
  /** Of an earlier load by this process, whose streams cannot be read again. */
  readonly before: FileSet | undefined;
}

/** Rejects with a `ConfigError` if the files keep changing. */
export async function loadSettled(sources: ConfigSources, { twice, before }: LoadOptions): Promise<SettledLoad> {
  let changed: readonly string[] = [];
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    const files = new FileSet(before);
    const config = loadedOrRefused({ ...sources, files });
    if (!twice && !files.isRecent(Date.now())) return { files, config };
    await delay(BETWEEN_LOOKS_MS);
    changed = files.changed();
    if (changed.length === 0) return { files, config };
  }
  const lines = changed.map(
    (path) =>
      `${labelOf(path)}: was different at each of ${TRIES_MAX} looks, ${BETWEEN_LOOKS_MS} ms apart; try again when nothing writes it`,
  );
  throw new ConfigError(lines);
}

function loadedOrRefused(sources: ConfigSources): () => Config {
  try {
    const config = loadConfig(sources);
    return () => config;
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return () => {
      throw error;
    };
  }
}
