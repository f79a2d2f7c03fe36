// Prometheus metrics of a running gateway: labels come from fixed sets, and only a few teams are labels.
import { Registry, collectDefaultMetrics } from 'prom-client';
import type { MetricsSnapshot } from '../../ports/metric-family.ts';
import type { PluginMetric } from '../../ports/plugin.ts';
import { registerDocumentGauges, registerDocumentSeries } from './document-metrics.ts';
import type { DocumentLoad, DocumentMeters } from './document-metrics.ts';
import { registerEventLoopGauge } from './event-loop-gauge.ts';
import { EngineMetrics, registerLimitGauge, registerLoadGauges, registerReplicaGauge } from './engine-metrics.ts';
import type { EngineLimitState, EngineLoad, EngineMeters, ReplicaState } from './engine-metrics.ts';
import { RequestSeries } from './request-series.ts';
import { familiesOf, registerEventSeries, registerGauge, registerPluginMetric, registerTeamGauges } from './scraped-series.ts';
import type { EventFigures, TeamGaugesOptions } from './scraped-series.ts';

/** Gauges, read at each scrape; `aggregator` says how the values of several processes are combined. */
export const GAUGES = {
  in_flight: { name: 'lingate_requests_in_flight', help: 'Requests in flight.', aggregator: 'sum' },
  open_settlements: {
    name: 'lingate_open_settlements',
    help: 'Commits and releases that the store has not acknowledged yet.',
    aggregator: 'sum',
  },
  store_up: { name: 'lingate_store_up', help: '1 while the store answers the background probe.', aggregator: 'min' },
  store_writable: { name: 'lingate_store_writable', help: '1 while the whole store takes writes.', aggregator: 'min' },
  clock_step: {
    name: 'lingate_clock_step_seconds',
    help: 'How far the store’s clock is from the right time; 0 while it is right.',
    aggregator: 'max',
  },
  draining: { name: 'lingate_draining', help: '1 while the process finishes its last requests before it stops.', aggregator: 'max' },
} as const;

interface CertificateFigure {
  readonly file: string;
  readonly endsMs: number;
}

export interface Metrics {
  readonly requests: RequestSeries;
  /** What counts for an engine, by its configured name. */
  engine(name: string): EngineMeters;
  /** Registers how the state of replicas is read; call it once. */
  engineReplicas(read: () => readonly ReplicaState[]): void;
  /** Registers how the load of engines is read; call it once. */
  engineLoads(read: () => readonly EngineLoad[]): void;
  /** Registers how it is read which engines have used up their characters; call it once. */
  engineLimits(read: () => readonly EngineLimitState[]): void;
  /** Registers how a gauge is read, once its source exists; call it once for each. */
  gauge(which: keyof typeof GAUGES, read: () => number): void;
  /** Registers how it is read until when the certificate is valid; call it once. */
  certificate(read: () => CertificateFigure | undefined): void;
  /** Registers the results of the watch over all teams; call it once. */
  teams(options: TeamGaugesOptions): void;
  /** Registers a metric of a plugin, under the plugin's name; call it once for each metric. */
  plugin(name: string, metric: PluginMetric): void;
  /** Registers the counts of the event sender; call it once. */
  events(figures: EventFigures): void;
  /** Registers the counts of documents; call it once, if there are any, with the names of their formats. */
  documents(formats: readonly string[]): DocumentMeters;
  /** Registers how it is read what there is of documents; call it once. */
  documentLoad(read: () => DocumentLoad): void;
  /** Call it once, if there are forward routes; the result counts unexpected bytes from their targets. */
  forwardUnasked(): () => void;
  /** The text that `/metrics` answers. */
  render(): Promise<string>;
  readonly contentType: string;
  /** The same as values, for adding up several processes. */
  snapshot(): Promise<MetricsSnapshot>;
}

export function openMetrics(registry = new Registry()): Metrics {
  registerProcessMetrics(registry);
  registerEventLoopGauge(registry);
  const requests = new RequestSeries(registry);
  const engines = new EngineMetrics(registry);
  registerGauge(registry, OPEN_RESERVATIONS, [], () => [[{}, requests.openReservations]]);
  return {
    requests,
    gauge: (which, read) => registerGauge(registry, GAUGES[which], [], () => [[{}, read()]]),
    certificate: (read) =>
      registerGauge(registry, CERTIFICATE_END, ['file'], () => {
        const end = read();
        return end === undefined ? [] : [[{ file: end.file }, end.endsMs / 1000]];
      }),
    teams: (options) => registerTeamGauges(registry, options),
    plugin: (name, metric) => registerPluginMetric(registry, name, metric),
    events: (figures) => registerEventSeries(registry, figures),
    documents: (formats) => registerDocumentSeries(registry, formats),
    documentLoad: (read) => registerDocumentGauges(registry, read),
    contentType: registry.contentType,
    render: () => registry.metrics(),
    snapshot: () => familiesOf(registry),
    engine(name) {
      requests.addEngine(name);
      return engines.of(name);
    },
    engineReplicas: (read) => registerReplicaGauge(registry, read),
    engineLoads: (read) => registerLoadGauges(registry, read),
    engineLimits: (read) => registerLimitGauge(registry, read),
    forwardUnasked: () => engines.forwardUnasked(),
  };
}

const CERTIFICATE_END = {
  name: 'lingate_tls_certificate_expiry_timestamp_seconds',
  help: 'When the certificate of the public listener ends, in seconds since 1970.',
  aggregator: 'min',
} as const;

const OPEN_RESERVATIONS = {
  name: 'lingate_open_reservations',
  help: 'Reservations that this process holds, or may hold, and has not settled.',
  aggregator: 'sum',
} as const;

/**
 * The event loop's lag is replaced by our own gauge: theirs includes the monitor's own interval, and shows a lag of 10 ms if there is
 * none. The totals are gauges named like counters; they are the sums of the metrics without that ending.
 */
const UNWANTED = /_eventloop_lag_|_nodejs_active_\w+_total$/;

/** CPU, memory, garbage collections, file descriptors: the usual names of dashboards for Node, with our prefix. */
function registerProcessMetrics(registry: Registry): void {
  collectDefaultMetrics({ register: registry, prefix: 'lingate_', eventLoopMonitoringPrecision: 1000 });
  const unwanted = registry.getMetricsAsArray().filter(({ name }) => UNWANTED.test(name));
  for (const { name } of unwanted) registry.removeSingleMetric(name);
}
