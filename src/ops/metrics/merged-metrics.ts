// Adds up the metrics of several processes; what processes that are gone have counted stays in, so that no counter falls.
import { AggregatorRegistry, Registry } from 'prom-client';

/** The metrics of one process at one moment; plain values. */
export type MetricsSnapshot = readonly { readonly type?: unknown }[];

/** What goes on counting. A gauge of a process that is gone means nothing any more. */
const COUNTING: readonly unknown[] = ['counter', 'histogram'];

export class MergedMetrics {
  readonly contentType = Registry.PROMETHEUS_CONTENT_TYPE;
  readonly #living = new Map<number, MetricsSnapshot>();
  #gone: Promise<MetricsSnapshot> = Promise.resolve([]);

  /** The latest of a process; one that does not answer keeps the one before. */
  take(processId: number, snapshot: MetricsSnapshot): void {
    this.#living.set(processId, snapshot);
  }

  /** The process has ended: its last counts are kept. */
  retire(processId: number): void {
    const last = this.#living.get(processId);
    if (last === undefined) return;
    this.#living.delete(processId);
    const counts = last.filter(({ type }) => COUNTING.includes(type));
    this.#gone = this.#gone.then((before) => merged([before, counts]).getMetricsAsJSON());
  }

  async render(): Promise<string> {
    return merged([await this.#gone, ...this.#living.values()]).metrics();
  }
}

function merged(snapshots: readonly MetricsSnapshot[]): Registry {
  return AggregatorRegistry.aggregate([...snapshots]);
}
