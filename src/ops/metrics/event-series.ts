// Metrics of the events sent to the operator's receiver.
import { Counter, Gauge, Registry } from 'prom-client';
import type { MetricsSnapshot } from './merged-metrics.ts';

/** The sender's counts. */
export interface EventFigures {
  readonly pending: number;
  readonly delivered: number;
  readonly failed: number;
  readonly dropped: number;
}

export function registerEventSeries(registry: Registry, figures: EventFigures): void {
  const counter = (name: string, help: string, read: () => number): void => {
    const made: Counter = new Counter({
      name,
      help,
      registers: [registry],
      collect: () => {
        made.reset();
        made.inc(read());
      },
    });
  };
  const pending: Gauge = new Gauge({
    name: 'lingate_events_pending',
    help: 'Events waiting to be sent; 0 at gateways that do not send.',
    registers: [registry],
    aggregator: 'sum',
    collect: () => pending.set(figures.pending),
  });
  counter('lingate_events_delivered_total', 'Events delivered to the receiver.', () => figures.delivered);
  counter('lingate_events_failed_total', 'Failed attempts to deliver an event.', () => figures.failed);
  counter('lingate_events_dropped_total', 'Events dropped after three days.', () => figures.dropped);
}

/** The same for a process that has no other metrics. */
export function openEventMetrics(figures: EventFigures): () => Promise<MetricsSnapshot> {
  const registry = new Registry();
  registerEventSeries(registry, figures);
  return () => registry.getMetricsAsJSON();
}
