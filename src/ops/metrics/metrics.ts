// The Prometheus metrics of one process, and those of a primary over its workers. Counting is an
// addition: prom-client, which hashes labels at each increment, only asks for the values at a
// scrape. Labels come from fixed sets, and only a few teams are labels.
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { AggregatorRegistry, Registry, collectDefaultMetrics } from 'prom-client';
import type { Metric } from 'prom-client';
import type { PluginMetric } from '../../ports/plugin.ts';
import { METRICS } from './table.ts';
import type { MetricDescription, MetricName } from './table.ts';

interface MetricSample {
  /** With the suffix of a histogram's series; by default the family's name. */
  readonly metricName?: string | undefined;
  readonly labels: Readonly<Record<string, string | number>>;
  readonly value: number;
}

/** A metric with its series. */
interface MetricFamily {
  readonly name: string;
  readonly help: string;
  readonly type: string;
  readonly values: readonly MetricSample[];
}

/** Of one process at one moment, as plain values: they survive structured cloning. */
export type MetricsSnapshot = readonly MetricFamily[];

type Labels = Readonly<Record<string, string>>;

/** One combination of labels of a counter: add to `count`. */
export interface CounterSeries {
  readonly labels: Labels;
  count: number;
}

/** Read at each scrape: one value, or one for each combination of labels; others disappear. */
type ReadValues = () => number | Iterable<readonly [labels: Labels, value: number]>;

export class Metrics {
  readonly contentType: string = Registry.PROMETHEUS_CONTENT_TYPE;
  readonly #registry = new Registry();
  readonly #counters = new Map<MetricName, CounterSeries[]>();
  readonly #histograms = new Map<MetricName, HistogramSeries[]>();

  /** Shown from now on, starting at 0. Once for each combination of labels: keep the result. */
  counter(name: MetricName, labels: Labels = {}): CounterSeries {
    const series = { labels, count: 0 };
    this.#seriesOf(this.#counters, name, (all) => all.map((one) => ({ labels: one.labels, value: one.count }))).push(series);
    return series;
  }

  /** A counter for each label value; the compiler compares the keys of `values` with their type. */
  counters<V extends string>(name: MetricName, label: string, values: Readonly<Record<V, unknown>>, labels: Labels = {}) {
    const series = Object.keys(values).map((value) => [value, this.counter(name, { ...labels, [label]: value })]);
    return Object.fromEntries(series) as Readonly<Record<V, CounterSeries>>;
  }

  /** As `counter`. */
  histogram(name: MetricName, labels: Labels = {}): HistogramSeries {
    const { buckets = [] }: MetricDescription = METRICS[name];
    const series = new HistogramSeries(labels, buckets);
    this.#seriesOf(this.#histograms, name, (all) => all.flatMap((one) => one.samples(`lingate_${name}`))).push(series);
    return series;
  }

  /** How a gauge, or what is counted elsewhere, is read. Once for each. */
  read(name: MetricName, values: ReadValues): void {
    this.#register(`lingate_${name}`, METRICS[name], () => samplesOf(values()));
  }

  /** `plugin` is the plugin's name, which begins the metric's. */
  plugin(plugin: string, metric: PluginMetric): void {
    const { name, help, kind, label } = metric;
    const described = { kind, help, labels: label === undefined ? [] : [label], aggregator: 'sum' } as const;
    this.#register(`lingate_${plugin.replaceAll(/[^a-z0-9]+/gi, '_')}_${name}`, described, () => {
      const value = metric.read();
      return samplesOf(
        typeof value === 'number' ? value : Object.entries(value).map(([one, count]) => [{ [label ?? 'kind']: one }, count]),
      );
    });
  }

  /** The text that `/metrics` answers. */
  render(): Promise<string> {
    return this.#registry.metrics();
  }

  /** The same as values, for adding up several processes. */
  snapshot(): Promise<MetricsSnapshot> {
    return snapshotOf(this.#registry);
  }

  /**
   * CPU, memory, garbage collections, file descriptors by their usual names. The event loop's delay
   * is our own: theirs includes the monitor's interval. Totals are sums.
   */
  watchProcess(): void {
    collectDefaultMetrics({ register: this.#registry, prefix: 'lingate_', eventLoopMonitoringPrecision: 1000 });
    const unwanted = this.#registry.getMetricsAsArray().filter(({ name }) => /_eventloop_lag_|_nodejs_active_\w+_total$/.test(name));
    for (const { name } of unwanted) this.#registry.removeSingleMetric(name);
    const monitor = monitorEventLoopDelay({ resolution: LOOP_RESOLUTION_MS });
    monitor.enable();
    this.read('event_loop_delay_seconds', () => {
      const delays = LOOP_PERCENTILES.map((percentile) => {
        const waitedMs = monitor.count === 0 ? 0 : monitor.percentile(percentile) / NS_PER_MS;
        return [{ percentile: String(percentile) }, Math.max(0, waitedMs - LOOP_RESOLUTION_MS) * SECONDS_PER_MS] as const;
      });
      monitor.reset();
      return delays;
    });
  }

  #seriesOf<S>(known: Map<MetricName, S[]>, name: MetricName, read: (series: readonly S[]) => MetricSample[]): S[] {
    const before = known.get(name);
    if (before !== undefined) return before;
    const series: S[] = [];
    known.set(name, series);
    this.#register(`lingate_${name}`, METRICS[name], () => read(series));
    return series;
  }

  #register(name: string, { kind: type, help, labels: labelNames, aggregator }: MetricDescription, values: () => MetricSample[]): void {
    const described = { name, help, type, aggregator };
    const metric = { ...described, labelNames, get: () => Promise.resolve({ ...described, values: values() }), reset: () => undefined };
    // A registry needs no more of a metric than this; the type names the library's four classes.
    this.#registry.registerMetric(metric as unknown as Metric);
  }
}

const LOOP_RESOLUTION_MS = 10;
const LOOP_PERCENTILES = [50, 90, 99, 100] as const;
const NS_PER_MS = 1e6;
const SECONDS_PER_MS = 0.001;

function samplesOf(values: ReturnType<ReadValues>): MetricSample[] {
  if (typeof values === 'number') return [{ labels: {}, value: values }];
  return Array.from(values, ([labels, value]) => ({ labels, value }));
}

/** prom-client's types say less than it returns: a metric's type is a word, with its values. */
async function snapshotOf(registry: Registry): Promise<MetricsSnapshot> {
  return (await registry.getMetricsAsJSON()) as unknown as MetricsSnapshot;
}

/** One combination of labels of a histogram. */
export class HistogramSeries {
  readonly #labels: Labels;
  readonly #bounds: readonly number[];
  /** By bucket, not cumulative; the last one is for values above every bound. */
  readonly #counts: Float64Array;
  #sum = 0;

  constructor(labels: Labels, bounds: readonly number[]) {
    this.#labels = labels;
    this.#bounds = bounds;
    this.#counts = new Float64Array(bounds.length + 1);
  }

  observeMs(ms: number): void {
    const value = ms * SECONDS_PER_MS;
    const bounds = this.#bounds;
    let index = 0;
    while (index < bounds.length && value > bounds[index]!) index++;
    this.#counts[index]! += 1;
    this.#sum += value;
  }

  samples(name: string): MetricSample[] {
    let below = 0;
    const buckets = Array.from(this.#counts, (count, index): MetricSample => {
      below += count;
      return { metricName: `${name}_bucket`, labels: { le: this.#bounds[index] ?? '+Inf', ...this.#labels }, value: below };
    });
    return [
      ...buckets,
      { metricName: `${name}_sum`, labels: this.#labels, value: this.#sum },
      { metricName: `${name}_count`, labels: this.#labels, value: below },
    ];
  }
}

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
