// Lists every metric that a gateway can have, with its labels and help text, for the operator's manual.
import { Registry } from 'prom-client';
import type { DescribedMetric } from '../../docs/metric-table.ts';
import { registerReplaced } from './merged-metrics.ts';
import { GAUGES, openMetrics } from './metrics.ts';

/** Those of prom-client have the names that dashboards for Node know. */
const USUAL = /^lingate_(?:process|nodejs)_/;

export function everyMetric(): readonly DescribedMetric[] {
  const registry = new Registry();
  const metrics = openMetrics(registry);
  const unread = (): never => {
    throw new Error('a metric is only described');
  };
  for (const which of Object.keys(GAUGES) as (keyof typeof GAUGES)[]) metrics.gauge(which, unread);
  metrics.engineReplicas(unread);
  metrics.engineLoads(unread);
  metrics.engineLimits(unread);
  metrics.certificate(unread);
  metrics.teams({ read: unread, now: () => 0 });
  metrics.events({ pending: 0, delivered: 0, failed: 0, dropped: 0 });
  metrics.documents([]);
  metrics.documentLoad(unread);
  registerReplaced(registry);
  return registry
    .getMetricsAsArray()
    .filter(({ name }) => !USUAL.test(name))
    .map(({ name, help, labelNames = [] }: { name: string; help: string; labelNames?: readonly string[] }) => ({
      name,
      help,
      labels: labelNames,
    }))
    .toSorted((one, other) => (one.name < other.name ? -1 : 1));
}
