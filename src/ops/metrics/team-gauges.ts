// Metrics of teams: those that the last pass found nearest to a limit, each a label, and how many are near one in all.
import { Gauge, Registry } from 'prom-client';
import type { TeamCondition, TeamsNearLimits } from '../../ports/teams-near-limits.ts';
import type { MetricsSnapshot } from './merged-metrics.ts';

export interface TeamGaugesOptions {
  /** What the watch found last. */
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
      // Begun anew: a team that is no longer near a limit must lose its series.
      collect: () => {
        made.reset();
        fill(made);
      },
    });
  };
  gauge('lingate_teams', 'Teams by condition, as the last pass over all of them found them.', ['condition'], (into) => {
    for (const condition of Object.keys(CONDITIONS) as TeamCondition[]) into.set({ condition }, read().counts[condition]);
  });
  gauge('lingate_team_metrics_age_seconds', 'How long ago the last whole pass over the teams ended.', [], (into) => {
    into.set((now() - (read().passedAtMs ?? startedAtMs)) / SECOND_MS);
  });
  gauge(
    'lingate_team_quota_used_ratio',
    "Settled share of the period's characters, overage included; the highest.",
    ['team_id'],
    (into) => {
      for (const { teamId, usedRatio } of read().quota) into.set({ team_id: teamId }, usedRatio);
    },
  );
  gauge('lingate_team_credit_characters', 'Characters that the credit still buys; the lowest.', ['team_id'], (into) => {
    for (const { teamId, characters } of read().credit) into.set({ team_id: teamId }, characters);
  });
  const about = 'How long the active key that has gone unused for longest has done so, at the last pass; of teams the longest.';
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
