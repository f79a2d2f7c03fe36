// Adds up the metrics of several processes, including the counts of those that have ended, so that no counter falls.
import { AggregatorRegistry, Registry } from 'prom-client';
import type { MetricsSnapshot } from '../../ports/metric-family.ts';
import { FastCounter } from './fast-series.ts';
import { familiesOf } from './scraped-series.ts';

/** Counters; a gauge of a process that has ended means nothing. */
const COUNTING: readonly string[] = ['counter', 'histogram'];

export class MergedMetrics {
  readonly contentType = Registry.PROMETHEUS_CONTENT_TYPE;
  readonly #living = new Map<number, MetricsSnapshot>();
  #gone: Promise<MetricsSnapshot> = Promise.resolve([]);

  /** The latest values of a process; if it does not answer, the previous ones. */
  take(processId: number, snapshot: MetricsSnapshot): void {
    this.#living.set(processId, snapshot);
  }

  /** Keeps the last counts of a process that has ended. */
  retire(processId: number): void {
    const last = this.#living.get(processId);
    if (last === undefined) return;
    this.#living.delete(processId);
    const counts = last.filter(({ type }) => COUNTING.includes(type));
    this.#gone = this.#gone.then((before) => familiesOf(merged([before, counts])));
  }

  async render(): Promise<string> {
    return merged([await this.#gone, ...this.#living.values()]).metrics();
  }
}

/** Why a worker was replaced: it ended, or it hung and was killed. */
export type Replaced = 'ended' | 'hung';

/** What the primary itself counts. */
interface PrimaryMetrics {
  replaced(why: Replaced): void;
  snapshot(): Promise<MetricsSnapshot>;
}

export function openPrimaryMetrics(registry = new Registry()): PrimaryMetrics {
  const replaced = new FastCounter({
    name: 'lingate_workers_replaced_total',
    help: 'Workers that were replaced because they had ended, or because they hung for ten seconds and were killed.',
    labels: ['reason'],
    registry,
  }).seriesBy<Replaced>('reason', { ended: true, hung: true });
  return {
    replaced: (why) => void replaced[why].pending++,
    snapshot: () => familiesOf(registry),
  };
}

function merged(snapshots: readonly MetricsSnapshot[]): Registry {
  return AggregatorRegistry.aggregate([...snapshots]);
}
