// Starts the watch over all teams if it is configured: once in a gateway, however many workers it has.
import { performance } from 'node:perf_hooks';
import type { Config } from '../config/config.ts';
import type { TeamGaugesOptions } from '../ops/metrics/team-gauges.ts';
import type { Log } from '../ports/log.ts';
import type { TeamRegistry } from '../ports/team-registry.ts';
import { TeamWatch } from '../runtime/team-watch.ts';

export interface OpenTeamWatch extends TeamGaugesOptions {
  close(): void;
}

/** `undefined` if team metrics are off. */
export function openTeamWatch({ teamMetrics }: Config, teams: TeamRegistry, log: Log): OpenTeamWatch | undefined {
  if (teamMetrics === undefined) return undefined;
  const now = (): number => performance.now();
  const watch = new TeamWatch({ teams, settings: teamMetrics, log, now, wallMs: () => Date.now() });
  return { read: () => watch.latest, now, close: () => watch.close() };
}
