// A Prometheus counter whose increments are a plain addition: they are passed to prom-client only at a scrape.
import { Counter } from 'prom-client';
import type { Registry } from 'prom-client';

/** One combination of labels. Counting is adding to `pending`. */
export interface CounterSeries {
  pending: number;
}

export interface FastCounterOptions<L extends string> {
  readonly name: string;
  readonly help: string;
  readonly labels: readonly L[];
  readonly registry: Registry;
}

type Labels<L extends string> = Readonly<Record<L, string>>;

export class FastCounter<L extends string = never> {
  readonly #series: { readonly labels: Labels<L>; readonly series: CounterSeries }[] = [];

  constructor({ name, help, labels, registry }: FastCounterOptions<L>) {
    const counter: Counter<L> = new Counter({
      name,
      help,
      labelNames: [...labels],
      registers: [registry],
      // `inc` with labels would cost more than everything else that is counted for a request.
      collect: () => {
        for (const { labels: values, series } of this.#series) {
          counter.inc(values, series.pending);
          series.pending = 0;
        }
      },
    });
  }

  /** Call it once for each combination, and keep the result. The series is shown from then on, starting at 0. */
  series(labels: Labels<L>): CounterSeries {
    const series: CounterSeries = { pending: 0 };
    this.#series.push({ labels, series });
    return series;
  }

  /** A series for each value of a counter's only label: the keys of `values`. */
  seriesBy<V extends string>(label: L, values: Readonly<Record<V, true>>): Readonly<Record<V, CounterSeries>> {
    const entries = Object.keys(values).map((value) => [value, this.series({ [label]: value } as Labels<L>)]);
    return Object.fromEntries(entries) as Record<V, CounterSeries>;
  }
}
