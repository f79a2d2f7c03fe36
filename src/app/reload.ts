// Reloads on SIGHUP, and applies what may change while running; a wrong file changes nothing.
import { hash } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { assertNoSectionLost } from '../config/changes.ts';
import { ConfigError } from '../config/config-error.ts';
import type { Config } from '../config/config.ts';
import type { Environment } from '../config/environment.ts';
import type { OperatorSide } from './operator-side.ts';
import { engineUrls } from './ready-line.ts';
import type { ProcessLife } from './until-stopped.ts';

/** What came of a reload. */
export interface ReloadReport {
  /** What is in force now; `undefined` if the configuration was refused. */
  readonly taken?: Readonly<Record<string, string | number>>;
  /** Changed members that wait for a restart. */
  readonly waiting: readonly string[];
  readonly faults: readonly string[];
}

/** What the ops listener answers at `RELOADS_PATH`. */
export interface Reloads {
  readonly pid: number;
  /** Where the pid is one: see `pidSpace`. */
  readonly space: string;
  /** How many there were in this process. */
  readonly count: number;
  readonly latest: ReloadReport | null;
}

export const RELOADS_PATH = '/reloads';

type Reloadable = Pick<OperatorSide, 'config' | 'reload' | 'reported'> & { readonly life: Pick<ProcessLife, 'log'> };

/** `load` reads the sources that the command line named. Never rejects: faults are logged. */
export async function reload(app: Reloadable, load: () => Promise<Config>, env: Environment): Promise<void> {
  const { log } = app.life;
  try {
    const next = await load();
    assertNoSectionLost(app.config, next);
    // So that a missing secret is reported now and not at the next start. Loaded on demand, because
    // it loads the engines' protocols.
    const { judgeSecrets } = await import('./judge.ts');
    await judgeSecrets(next, env);
    const waiting = app.reload(next);
    const { languages, plans, file, routing } = next;
    const taken = {
      file,
      sources: languages.sources.length,
      targets: languages.targets.length,
      engine_urls: engineUrls(next).join(' '),
      ...(routing === undefined ? {} : { routing_rules: routing.length }),
      plans: [...plans.keys()].join(' '),
    };
    log.info('configuration reloaded', taken);
    if (waiting.length > 0) log.warn('these members have changed and wait for a restart', { members: waiting.join(' ') });
    app.reported({ taken, waiting, faults: [] });
  } catch (error) {
    const faults = faultsOf(error);
    for (const fault of faults) log.error('configuration refused: nothing has changed', { fault });
    app.reported({ waiting: [], faults });
  }
}

function faultsOf(error: unknown): readonly string[] {
  if (error instanceof ConfigError) return error.lines;
  return [error instanceof Error ? error.message : String(error)];
}

/** A fingerprint of the machine since its boot, and the container. */
export function pidSpace(): string {
  try {
    const names = `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()} ${readlinkSync('/proc/self/ns/pid')}`;
    return hash('sha256', names);
  } catch {
    return hostname();
  }
}
