// Adds up the metrics of several processes; what processes that are gone have counted stays in, so that no counter falls.
import { AggregatorRegistry, Registry } from 'prom-client';
import { FastCounter } from './fast-counter.ts';

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

/** Why a worker was replaced: it had ended, or it did not turn and was ended. */
export type Replaced = 'ended' | 'hung';

/** What the primary itself counts. */
export interface PrimaryMetrics {
  replaced(why: Replaced): void;
  snapshot(): Promise<MetricsSnapshot>;
}

export function openPrimaryMetrics(): PrimaryMetrics {
  const registry = new Registry();
  const replaced = new FastCounter({
    name: 'lingate_workers_replaced_total',
    help: 'Workers that were replaced: because they had ended, or hung, which is that they did not turn for ten seconds and were ended.',
    labels: ['reason'],
    registry,
  }).seriesBy<Replaced>('reason', { ended: true, hung: true });
  return {
    replaced: (why) => void replaced[why].pending++,
    snapshot: () => registry.getMetricsAsJSON(),
  };
}

function merged(snapshots: readonly MetricsSnapshot[]): Registry {
  return AggregatorRegistry.aggregate([...snapshots]);
}
