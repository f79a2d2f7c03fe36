// Metrics of plugins, read at each scrape.
import { Counter, Gauge } from 'prom-client';
import type { Registry } from 'prom-client';
import type { PluginMetric } from '../../ports/plugin.ts';

/** `plugin` is the plugin's name, the prefix of the metric's name. */
export function registerPluginMetric(registry: Registry, plugin: string, metric: PluginMetric): void {
  const { name, help, kind, label } = metric;
  const text = {
    name: `lingate_${plugin.replaceAll(/[^a-z0-9]+/gi, '_')}_${name}`,
    help,
    labelNames: label === undefined ? [] : [label],
    registers: [registry],
  };
  const each = (take: (labels: Record<string, string>, value: number) => void): void => {
    const value = metric.read();
    if (typeof value === 'number') take({}, value);
    else for (const [one, count] of Object.entries(value)) take({ [label ?? 'kind']: one }, count);
  };
  if (kind === 'gauge') {
    const gauge: Gauge = new Gauge({ ...text, aggregator: 'sum', collect: () => each((labels, value) => gauge.set(labels, value)) });
    return;
  }
  const counter: Counter = new Counter({
    ...text,
    collect() {
      counter.reset();
      each((labels, value) => counter.inc(labels, value));
    },
  });
}
