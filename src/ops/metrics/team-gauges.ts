// Metrics of teams: the teams that the last check found closest to a limit, as labels, and how many there are in total.
import { Gauge, Registry } from 'prom-client';
import type { TeamCondition, TeamsNearLimits } from '../../ports/teams-near-limits.ts';
import type { MetricsSnapshot } from './merged-metrics.ts';

export interface TeamGaugesOptions {
  /** The result of the last check. */
  readonly read: () => TeamsNearLimits;
  /** The watch's monotonic clock in milliseconds. */
  readonly now: () => number;
}

const SECOND_MS = 1000;
const CONDITIONS: Readonly<Record<TeamCondition, true>> = { all: true, quota_nearly_used: true, credit_low: true, key_unused: true };

export function registerTeamGauges(registry: Registry, { read, now }: TeamGaugesOptions): void {
  const startedAtMs = now();
  const gauge = <L extends string>(name: string, help: string, labelNames: readonly L[], fill: (into: Gauge<L>) => void): void => {
    const made: Gauge<L> = new Gauge({
      name,
      help,
      labelNames: [...labelNames],
      registers: [registry],
      aggregator: 'max',
      // Reset at each scrape, because a team that is no longer near a limit must lose its series.
      collect: () => {
        made.reset();
        fill(made);
      },
    });
  };
  gauge('lingate_teams', 'Teams by condition, as of the last check of all teams.', ['condition'], (into) => {
    for (const condition of Object.keys(CONDITIONS) as TeamCondition[]) into.set({ condition }, read().counts[condition]);
  });
  gauge('lingate_team_metrics_age_seconds', 'How long ago the last complete check of all teams ended.', [], (into) => {
    into.set((now() - (read().passedAtMs ?? startedAtMs)) / SECOND_MS);
  });
  gauge(
    'lingate_team_quota_used_ratio',
    "Settled share of the period's characters, including overage; the highest teams.",
    ['team_id'],
    (into) => {
      for (const { teamId, usedRatio } of read().quota) into.set({ team_id: teamId }, usedRatio);
    },
  );
  gauge('lingate_team_credit_characters', 'Characters that the credit still buys; the lowest teams.', ['team_id'], (into) => {
    for (const { teamId, characters } of read().credit) into.set({ team_id: teamId }, characters);
  });
  const about = "How long the team's longest unused active key has been unused, as of the last check; the longest teams.";
  gauge('lingate_team_key_unused_seconds', about, ['team_id', 'key_id'], (into) => {
    for (const { teamId, keyId, unusedSeconds } of read().keys) into.set({ team_id: teamId, key_id: keyId }, unusedSeconds);
  });
}

/** The same for a process that has no other metrics. */
export function openTeamMetrics(options: TeamGaugesOptions): () => Promise<MetricsSnapshot> {
  const registry = new Registry();
  registerTeamGauges(registry, options);
  return () => registry.getMetricsAsJSON();
}
