// The metrics of one process at one moment, as plain values: they survive structured cloning.

/** One request as an example of the values that a bucket has counted. */
export interface Exemplar {
  readonly traceId: string;
  readonly value: number;
  /** By the wall clock. */
  readonly atMs: number;
}

export interface MetricSample {
  /** With the suffix of a histogram's series; by default the family's name. */
  readonly metricName?: string | undefined;
  readonly labels: Readonly<Record<string, string | number>>;
  readonly value: number;
  /** `null` in histograms of prom-client's own. */
  readonly exemplar?: Exemplar | null | undefined;
}

/** A metric with its series. */
export interface MetricFamily {
  readonly name: string;
  readonly help: string;
  readonly type: string;
  readonly values: readonly MetricSample[];
}

export type MetricsSnapshot = readonly MetricFamily[];
