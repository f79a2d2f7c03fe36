// A Prometheus histogram whose observations are a short search and two additions; prom-client reads it at a scrape.
import type { Metric, Registry } from 'prom-client';

export interface FastHistogramOptions<L extends string> {
  readonly name: string;
  readonly help: string;
  readonly labels: readonly L[];
  /** Upper bounds in ascending order; `+Inf` is added. */
  readonly buckets: readonly number[];
  readonly registry: Registry;
}

interface Sample {
  readonly metricName: string;
  readonly labels: Readonly<Record<string, string | number>>;
  readonly value: number;
}

/** One combination of labels. */
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

  samples(name: string): Sample[] {
    const samples: Sample[] = [];
    let below = 0;
    for (const [index, count] of this.#counts.entries()) {
      below += count;
      samples.push({ metricName: `${name}_bucket`, labels: { le: this.#bounds[index] ?? '+Inf', ...this.labels }, value: below });
    }
    samples.push({ metricName: `${name}_sum`, labels: this.labels, value: this.#sum });
    samples.push({ metricName: `${name}_count`, labels: this.labels, value: below });
    return samples;
  }
}

export class FastHistogram<L extends string = never> {
  readonly #bounds: readonly number[];
  readonly #series: HistogramSeries[] = [];

  constructor({ name, help, labels, buckets, registry }: FastHistogramOptions<L>) {
    this.#bounds = buckets;
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
