// The metrics of a primary: those of its workers added up, including the counts of workers that have ended, so that no counter falls,
// and what it counts itself.
import { AggregatorRegistry } from 'prom-client';
import type { Registry } from 'prom-client';
import type { MetricsSnapshot } from '../../ports/metric-family.ts';
import { Metrics, snapshotOf } from './metrics.ts';

export class MergedMetrics extends Metrics {
  /** Why a worker was replaced: it ended, or it hung and was killed. */
  readonly replaced = this.counters('workers_replaced_total', 'reason', { ended: true, hung: true });
  /** The latest values of each worker; of one that does not answer, the previous ones. */
  readonly #living = new Map<number, MetricsSnapshot>();
  readonly #ask: () => Promise<ReadonlyMap<number, MetricsSnapshot>>;
  #gone: Promise<MetricsSnapshot> = Promise.resolve([]);

  /** `ask` asks the workers, by process id. */
  constructor(ask: () => Promise<ReadonlyMap<number, MetricsSnapshot>>) {
    super();
    this.#ask = ask;
  }

  /** Keeps the last counts of a worker that has ended; a gauge of such a process means nothing. */
  retire(processId: number): void {
    const last = this.#living.get(processId);
    if (last === undefined) return;
    this.#living.delete(processId);
    const counts = last.filter(({ type }) => type !== 'gauge');
    this.#gone = this.#gone.then((before) => snapshotOf(merged([before, counts])));
  }

  override async render(): Promise<string> {
    for (const [processId, snapshot] of await this.#ask()) this.#living.set(processId, snapshot);
    return merged([await this.#gone, ...this.#living.values(), await this.snapshot()]).metrics();
  }
}

function merged(snapshots: readonly MetricsSnapshot[]): Registry {
  return AggregatorRegistry.aggregate([...snapshots]);
}
