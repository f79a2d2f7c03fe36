// The metrics of one process at one moment, as plain values: they survive structured cloning.

export interface MetricSample {
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

export type MetricsSnapshot = readonly MetricFamily[];
