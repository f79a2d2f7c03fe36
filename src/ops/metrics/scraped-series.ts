// Metrics that are read at each scrape: gauges, events sent to the operator's receiver, teams near a limit, plugins.
import { Counter, Gauge } from 'prom-client';
import type { Registry } from 'prom-client';
import type { PluginMetric } from '../../ports/plugin.ts';
import type { TeamCondition, TeamsNearLimits } from '../../ports/teams-near-limits.ts';
import type { MetricsSnapshot } from '../../ports/metric-family.ts';

interface ScrapedText {
  readonly name: string;
  readonly help: string;
  /** How the values of several processes are combined; counters are added up. */
  readonly aggregator?: 'sum' | 'min' | 'max';
}

/** One value, by its labels. */
type ScrapedValue = readonly [labels: Readonly<Record<string, string>>, value: number];

/** Registers a gauge with what `read` returns at each scrape; a series that it no longer returns disappears. */
export function registerGauge(
  registry: Registry,
  text: ScrapedText,
  labelNames: readonly string[],
  read: () => Iterable<ScrapedValue>,
): void {
  const gauge: Gauge = new Gauge({
    ...text,
    labelNames: [...labelNames],
    registers: [registry],
    collect() {
      gauge.reset();
      for (const [labels, value] of read()) gauge.set(labels, value);
    },
  });
}

/** The same for a counter that is counted elsewhere. */
function registerCounter(registry: Registry, text: ScrapedText, labelNames: readonly string[], read: () => Iterable<ScrapedValue>): void {
  const counter: Counter = new Counter({
    ...text,
    labelNames: [...labelNames],
    registers: [registry],
    collect() {
      counter.reset();
      for (const [labels, value] of read()) counter.inc(labels, value);
    },
  });
}

/** The counts of the sender of events. */
export interface EventFigures {
  readonly pending: number;
  readonly delivered: number;
  readonly failed: number;
  readonly dropped: number;
}

export function registerEventSeries(registry: Registry, figures: EventFigures): void {
  const counter = (name: string, help: string, read: () => number): void =>
    registerCounter(registry, { name, help }, [], () => [[{}, read()]]);
  const pending = { name: 'lingate_events_pending', help: 'Events waiting to be sent; 0 at gateways that do not send.' };
  registerGauge(registry, { ...pending, aggregator: 'sum' }, [], () => [[{}, figures.pending]]);
  counter('lingate_events_delivered_total', 'Events delivered to the receiver.', () => figures.delivered);
  counter('lingate_events_failed_total', 'Failed attempts to deliver an event.', () => figures.failed);
  counter('lingate_events_dropped_total', 'Events dropped after three days.', () => figures.dropped);
}

/** `plugin` is the plugin's name, the prefix of the metric's name. */
export function registerPluginMetric(registry: Registry, plugin: string, metric: PluginMetric): void {
  const { name, help, kind, label } = metric;
  const text = { name: `lingate_${plugin.replaceAll(/[^a-z0-9]+/gi, '_')}_${name}`, help };
  const values = (): readonly ScrapedValue[] => {
    const value = metric.read();
    return typeof value === 'number' ? [[{}, value]] : Object.entries(value).map(([one, count]) => [{ [label ?? 'kind']: one }, count]);
  };
  const labelNames = label === undefined ? [] : [label];
  if (kind === 'gauge') registerGauge(registry, { ...text, aggregator: 'sum' }, labelNames, values);
  else registerCounter(registry, text, labelNames, values);
}

export interface TeamGaugesOptions {
  /** The result of the last check. */
  readonly read: () => TeamsNearLimits;
  /** The watch's monotonic clock in milliseconds. */
  readonly now: () => number;
}

const SECOND_MS = 1000;
const CONDITIONS: Readonly<Record<TeamCondition, true>> = { all: true, quota_nearly_used: true, credit_low: true, key_unused: true };

/** The teams that the last check found closest to a limit, as labels, and how many there are in total. */
export function registerTeamGauges(registry: Registry, { read, now }: TeamGaugesOptions): void {
  const startedAtMs = now();
  const gauge = (name: string, help: string, labelNames: readonly string[], values: () => Iterable<ScrapedValue>): void =>
    registerGauge(registry, { name, help, aggregator: 'max' }, labelNames, values);
  gauge('lingate_teams', 'Teams by condition, as of the last check of all teams.', ['condition'], () =>
    (Object.keys(CONDITIONS) as TeamCondition[]).map((condition) => [{ condition }, read().counts[condition]]),
  );
  gauge('lingate_team_metrics_age_seconds', 'Time since the last complete check of all teams.', [], () => [
    [{}, (now() - (read().passedAtMs ?? startedAtMs)) / SECOND_MS],
  ]);
  const quota = "Settled share of the period's characters, including overage; the highest teams.";
  gauge('lingate_team_quota_used_ratio', quota, ['team_id'], () =>
    read().quota.map(({ teamId, usedRatio }) => [{ team_id: teamId }, usedRatio]),
  );
  gauge('lingate_team_credit_characters', 'Characters that the credit still buys; the lowest teams.', ['team_id'], () =>
    read().credit.map(({ teamId, characters }) => [{ team_id: teamId }, characters]),
  );
  const unused = "How long the team's longest unused active key has been unused; the longest teams.";
  gauge('lingate_team_key_unused_seconds', unused, ['team_id', 'key_id'], () =>
    read().keys.map(({ teamId, keyId, unusedSeconds }) => [{ team_id: teamId, key_id: keyId }, unusedSeconds]),
  );
}

/** A registry of prom-client as plain values. Its types say less than what it returns: a metric's type is a word, and its values are there. */
export async function familiesOf(registry: Registry): Promise<MetricsSnapshot> {
  return (await registry.getMetricsAsJSON()) as unknown as MetricsSnapshot;
}
