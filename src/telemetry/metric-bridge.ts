// The metrics of `/metrics` as the SDK exports them: the same series with the same names, cumulative, read without counting anything.
import type { HrTime } from '@opentelemetry/api';
import type { CollectionResult, DataPoint, Histogram, MetricData, MetricProducer } from '@opentelemetry/sdk-metrics';
import type { Resource } from '@opentelemetry/resources';
import type { MetricFamily, MetricSample, MetricsSnapshot } from '../ports/metric-family.ts';
import type { Sdk } from './sdk.ts';

interface MetricBridgeOptions {
  readonly api: Sdk['api'];
  readonly sdk: Sdk['metrics'];
  readonly resource: Resource;
  readonly read: () => Promise<MetricsSnapshot>;
  /** The time that is believed, in milliseconds. */
  readonly nowMs: () => number;
}

type Labels = MetricSample['labels'];

export class MetricBridge implements MetricProducer {
  readonly #options: MetricBridgeOptions;
  /** Since when the counts run. */
  readonly #since: HrTime;

  constructor(options: MetricBridgeOptions) {
    this.#options = options;
    this.#since = hrTimeOf(options.nowMs());
  }

  async collect(): Promise<CollectionResult> {
    const { resource, read, nowMs } = this.#options;
    const families = await read();
    const times = { startTime: this.#since, endTime: hrTimeOf(nowMs()) };
    const metrics = families.map((family) => this.#metricOf(family, times)).filter((metric) => metric.dataPoints.length > 0);
    return { resourceMetrics: { resource, scopeMetrics: [{ scope: { name: 'lingate' }, metrics }] }, errors: [] };
  }

  #metricOf(family: MetricFamily, times: Pick<DataPoint<number>, 'startTime' | 'endTime'>): MetricData {
    const { api, sdk } = this.#options;
    const common = {
      descriptor: { name: family.name, description: family.help, unit: '', valueType: api.ValueType.DOUBLE },
      aggregationTemporality: sdk.AggregationTemporality.CUMULATIVE,
    };
    const numbers = (): DataPoint<number>[] => family.values.map(({ labels, value }) => ({ ...times, attributes: textOf(labels), value }));
    switch (family.type) {
      case 'counter':
        return { ...common, dataPointType: sdk.DataPointType.SUM, isMonotonic: true, dataPoints: numbers() };
      case 'histogram':
        return {
          ...common,
          dataPointType: sdk.DataPointType.HISTOGRAM,
          dataPoints: histogramsOf(family).map((one) => ({ ...times, ...one })),
        };
      default:
        return { ...common, dataPointType: sdk.DataPointType.GAUGE, dataPoints: numbers() };
    }
  }
}

/** Each combination of labels, from its lines for buckets, sum and count. */
function histogramsOf({ name, values }: MetricFamily): { readonly attributes: Record<string, string>; readonly value: Histogram }[] {
  const groups = Map.groupBy(values, ({ labels }) => JSON.stringify(Object.entries(textOf(labels)).filter(([label]) => label !== 'le')));
  return [...groups].map(([key, samples]) => {
    const of = (suffix: string): number => samples.find(({ metricName }) => metricName === name + suffix)?.value ?? 0;
    const buckets = samples.filter(({ metricName }) => metricName === `${name}_bucket`);
    const below = buckets.map(({ value }) => value);
    const boundaries = buckets.map(({ labels }) => Number(labels['le'])).filter((bound) => Number.isFinite(bound));
    // Prometheus's buckets include the ones before them, OTLP's do not.
    const counts = below.map((count, index) => count - (below[index - 1] ?? 0));
    return {
      attributes: Object.fromEntries(JSON.parse(key) as [string, string][]),
      value: { buckets: { boundaries, counts }, sum: of('_sum'), count: of('_count') },
    };
  });
}

function textOf(labels: Labels): Record<string, string> {
  return Object.fromEntries(Object.entries(labels).map(([name, value]) => [name, String(value)]));
}

function hrTimeOf(ms: number): HrTime {
  return [Math.floor(ms / 1000), Math.round((ms % 1000) * 1e6)];
}
