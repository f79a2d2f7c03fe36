// Reads a registry of prom-client as plain values.
import type { Registry } from 'prom-client';
import type { MetricsSnapshot } from '../../ports/metric-family.ts';

/** Its types say less than what it returns: a metric's type is a word, and its values are there. */
export async function familiesOf(registry: Registry): Promise<MetricsSnapshot> {
  return (await registry.getMetricsAsJSON()) as unknown as MetricsSnapshot;
}
