// The metrics of a primary: those of its workers added up, including the counts of workers that have ended, so that no counter falls,
// and what it counts itself.
import { AggregatorRegistry, Registry } from 'prom-client';
import type { MetricsSnapshot } from '../../ports/metric-family.ts';
import { FastCounter } from './fast-series.ts';
import { familiesOf, registerEventSeries, registerTeamGauges } from './scraped-series.ts';
import type { EventFigures, TeamGaugesOptions } from './scraped-series.ts';

/** Counters; a gauge of a process that has ended means nothing. */
const COUNTING: readonly string[] = ['counter', 'histogram'];

/** Why a worker was replaced: it ended, or it hung and was killed. */
type Replaced = 'ended' | 'hung';

export class MergedMetrics {
  readonly contentType = Registry.PROMETHEUS_CONTENT_TYPE;
  readonly #own = new Registry();
  readonly #replaced = registerReplaced(this.#own);
  /** The latest values of each worker; of one that does not answer, the previous ones. */
  readonly #living = new Map<number, MetricsSnapshot>();
  readonly #read: () => Promise<ReadonlyMap<number, MetricsSnapshot>>;
  #gone: Promise<MetricsSnapshot> = Promise.resolve([]);

  /** `read` asks the workers, by process id. */
  constructor(read: () => Promise<ReadonlyMap<number, MetricsSnapshot>>) {
    this.#read = read;
  }

  teams(options: TeamGaugesOptions): void {
    registerTeamGauges(this.#own, options);
  }

  events(figures: EventFigures): void {
    registerEventSeries(this.#own, figures);
  }

  replaced(why: Replaced): void {
    this.#replaced[why].pending++;
  }

  /** Keeps the last counts of a worker that has ended. */
  retire(processId: number): void {
    const last = this.#living.get(processId);
    if (last === undefined) return;
    this.#living.delete(processId);
    const counts = last.filter(({ type }) => COUNTING.includes(type));
    this.#gone = this.#gone.then((before) => familiesOf(merged([before, counts])));
  }

  async render(): Promise<string> {
    for (const [processId, snapshot] of await this.#read()) this.#living.set(processId, snapshot);
    return merged([await this.#gone, ...this.#living.values(), await familiesOf(this.#own)]).metrics();
  }
}

export function registerReplaced(registry: Registry) {
  return new FastCounter(
    registry,
    'lingate_workers_replaced_total',
    ['reason'],
    'Workers replaced because they ended, or hung for ten seconds.',
  ).seriesBy<Replaced>('reason', { ended: true, hung: true });
}

function merged(snapshots: readonly MetricsSnapshot[]): Registry {
  return AggregatorRegistry.aggregate([...snapshots]);
}
