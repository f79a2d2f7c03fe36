// Opens telemetry by OpenTelemetry's SDK: spans of sampled requests and the process's metrics, sent in the background.
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { Resource } from '@opentelemetry/resources';
import type { MeterProvider } from '@opentelemetry/sdk-metrics';
import type { TracerProvider } from '@opentelemetry/sdk-trace';
import type { Log } from '../ports/log.ts';
import type { MetricsSnapshot } from '../ports/metric-family.ts';
import type { OtelExport, OtelSettings, RequestTracer, Telemetry } from '../ports/telemetry.ts';
import { ExportLog } from './export-log.ts';
import { MetricOutlet, SpanOutlet } from './exporters.ts';
import type { ExporterParts } from './exporters.ts';
import { MetricBridge } from './metric-bridge.ts';
import { OtlpSender } from './otlp-sender.ts';
import { RequestSpans } from './request-spans.ts';
import { loadSdk } from './sdk.ts';
import type { Sdk } from './sdk.ts';

export interface TelemetryOptions {
  readonly settings: OtelSettings;
  readonly version: string;
  /** Which process of the gateway this is: `gateway` if it is the only one, otherwise `primary`, or for example `worker-2`. */
  readonly process: string;
  readonly metrics: () => Promise<MetricsSnapshot>;
  readonly log: Log;
  /** A monotonic clock in milliseconds. */
  readonly now: () => number;
  /** The time that is believed, in milliseconds. */
  readonly nowMs: () => number;
}

/** Rejects with an `SdkMissing` or a `TlsFileError`. Nothing is connected before the first export. */
export async function openTelemetry(options: TelemetryOptions): Promise<Telemetry> {
  const sdk = await loadSdk();
  const { traces, metrics } = options.settings;
  const resource = resourceOf(sdk, options);
  const spans = traces && openTraces(sdk, traces, resource, options);
  const readings = metrics && openMetricExport(sdk, metrics, resource, options);
  const opened = [spans, readings].filter((one) => one !== undefined);
  return {
    tracer: spans?.tracer,
    async close(withinMs) {
      const late = Promise.withResolvers<void>();
      const timer = setTimeout(late.resolve, withinMs);
      const flushed = Promise.allSettled(opened.map(({ provider }) => provider.shutdown()));
      await Promise.race([flushed, late.promise]);
      clearTimeout(timer);
      for (const { sender } of opened) sender.close();
      // Everything that is still under way ends at once.
      await flushed;
    },
  };
}

interface OpenExport<Provider> {
  readonly provider: Provider;
  readonly sender: OtlpSender;
}

function openTraces(
  sdk: Sdk,
  traces: OtelExport,
  resource: Resource,
  { settings, log, now, nowMs, version }: TelemetryOptions,
): OpenExport<TracerProvider> & { readonly tracer: RequestTracer } {
  const { transformer, trace } = sdk;
  const serializer = traces.encoding === 'json' ? transformer.JsonTraceSerializer : transformer.ProtobufTraceSerializer;
  const { delayMs, spansMax, batchMax } = settings.queue;
  const parts = partsOf(traces, 'traces', serializer, log, now);
  const outlet = new SpanOutlet(parts, spansMax);
  const batches = new trace.BatchSpanProcessor({
    exporter: outlet,
    maxQueueSize: spansMax,
    maxExportBatchSize: batchMax,
    scheduledDelayMillis: delayMs,
    // The sender has a limit of its own.
    exportTimeoutMillis: 2 * traces.timeoutMs,
  });
  const provider = new trace.TracerProvider({
    resource,
    // Only sampled requests have spans.
    sampler: new trace.AlwaysOnSampler(),
    spanProcessors: [outlet.bounded(batches)],
  });
  const { sample, followCallers } = settings;
  const tracer = new RequestSpans({ api: sdk.api, tracer: provider.getTracer('lingate', version), sample, followCallers, now, nowMs });
  return { provider, sender: parts.sender, tracer };
}

function openMetricExport(
  sdk: Sdk,
  metrics: OtelExport,
  resource: Resource,
  { settings, log, now, nowMs, metrics: read }: TelemetryOptions,
): OpenExport<MeterProvider> {
  const { transformer, metrics: sdkMetrics } = sdk;
  const serializer = metrics.encoding === 'json' ? transformer.JsonMetricsSerializer : transformer.ProtobufMetricsSerializer;
  const parts = partsOf(metrics, 'metrics', serializer, log, now);
  const reader = new sdkMetrics.PeriodicExportingMetricReader({
    exporter: new MetricOutlet(parts),
    exportIntervalMillis: settings.metricsEveryMs,
    metricProducers: [new MetricBridge({ api: sdk.api, sdk: sdkMetrics, resource, read, nowMs })],
  });
  return { provider: new sdkMetrics.MeterProvider({ resource, readers: [reader] }), sender: parts.sender };
}

function partsOf<Items>(
  settings: OtelExport,
  signal: string,
  serializer: ExporterParts<Items>['serializer'],
  log: Log,
  now: () => number,
): ExporterParts<Items> {
  const { origin, pathname } = new URL(settings.url);
  return { serializer, sender: new OtlpSender(settings), log: new ExportLog({ log, signal, url: origin + pathname, now }) };
}

/**
 * What identifies this process; `OTEL_RESOURCE_ATTRIBUTES` and `OTEL_SERVICE_NAME` win. A given `service.instance.id` would be that of
 * all processes of a gateway, so the process is added to it.
 */
function resourceOf({ resources }: Sdk, { settings, version, process: role }: TelemetryOptions): Resource {
  const own = {
    'service.name': settings.serviceName,
    'service.version': version,
    'service.instance.id': randomUUID(),
    'host.name': hostname(),
    'process.pid': process.pid,
  };
  const { attributes = {} } = resources.resourceAttributesEnvDetector.detect();
  const { attributes: named = {} } = resources.serviceNameEnvDetector.detect();
  const instance = attributes['service.instance.id'];
  const shared = typeof instance === 'string' && role !== 'gateway' ? { 'service.instance.id': `${instance}/${role}` } : {};
  return resources
    .defaultResource()
    .merge(resources.resourceFromAttributes({ ...own, ...attributes, ...named, ...shared, 'lingate.process': role }));
}
