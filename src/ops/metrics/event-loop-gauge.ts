// How late the event loop ran since the last scrape: the cause of timeouts that nothing else explains.
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { Gauge } from 'prom-client';
import type { Registry } from 'prom-client';

const RESOLUTION_MS = 10;
const NS_PER_MS = 1e6;
const MS_PER_SECOND = 1000;
const PERCENTILES = [50, 90, 99, 100] as const;

export function registerEventLoopGauge(registry: Registry): void {
  const monitor = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  monitor.enable();
  const gauge: Gauge<'percentile'> = new Gauge({
    name: 'lingate_event_loop_delay_seconds',
    help: 'Delay of the event loop since the last scrape, by percentile; 100 is the longest.',
    labelNames: ['percentile'],
    registers: [registry],
    aggregator: 'max',
    collect() {
      for (const percentile of PERCENTILES) gauge.set({ percentile: String(percentile) }, delaySeconds(percentile));
      monitor.reset();
    },
  });
  /** The monitor's measurements include the interval that it meant to wait. */
  function delaySeconds(percentile: number): number {
    if (monitor.count === 0) return 0;
    const waitedMs = monitor.percentile(percentile) / NS_PER_MS;
    return Math.max(0, waitedMs - RESOLUTION_MS) / MS_PER_SECOND;
  }
}
