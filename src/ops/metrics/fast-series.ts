// Prometheus counters and histograms whose increments are plain additions; prom-client reads them at a scrape.
import { Counter } from 'prom-client';
import type { Metric, Registry } from 'prom-client';
import type { MetricSample } from '../../ports/metric-family.ts';

/** One combination of labels of a counter. Counting is adding to `pending`. */
export interface CounterSeries {
  pending: number;
}

type Labels<L extends string> = Readonly<Record<L, string>>;

/** Increments are passed to prom-client only at a scrape. */
export class FastCounter<L extends string = never> {
  readonly #series: { readonly labels: Labels<L>; readonly series: CounterSeries }[] = [];

  constructor(registry: Registry, name: string, labels: readonly L[], help: string) {
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

/** One combination of labels of a histogram. */
export class HistogramSeries {
  readonly labels: Readonly<Record<string, string>>;
  readonly #bounds: readonly number[];
  /** By bucket, not cumulative; the last one is for values above every bound. */
  readonly #counts: Float64Array;
  #sum = 0;

  constructor(labels: Readonly<Record<string, string>>, bounds: readonly number[]) {
    this.labels = labels;
    this.#bounds = bounds;
    this.#counts = new Float64Array(bounds.length + 1);
  }

  observe(value: number): void {
    const bounds = this.#bounds;
    let index = 0;
    while (index < bounds.length && value > bounds[index]!) index++;
    this.#counts[index]! += 1;
    this.#sum += value;
  }

  samples(name: string): MetricSample[] {
    const samples: MetricSample[] = [];
    let below = 0;
    for (const [index, count] of this.#counts.entries()) {
      below += count;
      const labels = { le: this.#bounds[index] ?? '+Inf', ...this.labels };
      samples.push({ metricName: `${name}_bucket`, labels, value: below });
    }
    samples.push({ metricName: `${name}_sum`, labels: this.labels, value: this.#sum });
    samples.push({ metricName: `${name}_count`, labels: this.labels, value: below });
    return samples;
  }
}

/** An observation is a short search and two additions. */
export class FastHistogram<L extends string = never> {
  readonly #bounds: readonly number[];
  readonly #series: HistogramSeries[] = [];

  /** `bounds`: the upper ones of the buckets in ascending order; `+Inf` is added. */
  constructor(registry: Registry, name: string, labels: readonly L[], bounds: readonly number[], help: string) {
    this.#bounds = bounds;
    const metric = {
      name,
      help,
      type: 'histogram',
      aggregator: 'sum',
      labelNames: labels,
      // The library's own histogram sorts, hashes and copies labels at every observation.
      get: () =>
        Promise.resolve({ name, help, type: 'histogram', aggregator: 'sum', values: this.#series.flatMap((s) => s.samples(name)) }),
      reset: () => undefined,
    };
    // A registry needs no more of a metric than this; the type names the library's four classes.
    registry.registerMetric(metric as unknown as Metric);
  }

  /** Call it once for each combination, and keep the result. */
  series(labels: Readonly<Record<L, string>>): HistogramSeries {
    const series = new HistogramSeries(labels, this.#bounds);
    this.#series.push(series);
    return series;
  }
}
