// Opens traces by OpenTelemetry's SDK, which is only loaded for them: spans of sampled requests,
// sent in the background by the SDK's own exporter, which reads the standard `OTEL_*` variables
// itself.
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { Resource } from '@opentelemetry/resources';
import type { SpanExporter } from '@opentelemetry/sdk-trace';
import type { Log } from '../ports/log.ts';
import type { OtelSettings, Telemetry } from '../ports/telemetry.ts';
import { RequestSpans } from './request-spans.ts';

export interface TelemetryOptions {
  readonly settings: OtelSettings;
  readonly version: string;
  /** Which process this is: `gateway` if it is the only one, or for example `worker-2`. */
  readonly process: string;
  readonly log: Log;
  /** A monotonic clock in milliseconds. */
  readonly now: () => number;
  /** The time that is believed, in milliseconds. */
  readonly nowMs: () => number;
}

const PACKAGES = ['api', 'sdk-trace', 'resources', 'exporter-trace-otlp-proto'].map((name) => `@opentelemetry/${name}`);
/** A failing collector is logged at most this often. */
const LOGGED_EVERY_MS = 60_000;

type Sdk = Awaited<ReturnType<typeof loadSdk>>;

/** For settings that were tried. Nothing is connected before the first export. */
export async function openTelemetry(options: TelemetryOptions): Promise<Telemetry> {
  const sdk = await loadSdk();
  const { settings, version, log, now, nowMs } = options;
  const { sample, followCallers, queue } = settings;
  const batches = new sdk.BatchSpanProcessor({
    exporter: loggedExporter(exporterOf(sdk, settings), log, now),
    scheduledDelayMillis: queue.delayMs,
    maxQueueSize: queue.spansMax,
    maxExportBatchSize: queue.batchMax,
  });
  const provider = new sdk.TracerProvider({
    resource: resourceOf(sdk, options),
    // Only sampled requests have spans.
    sampler: new sdk.AlwaysOnSampler(),
    spanProcessors: [batches],
  });
  const tracer = provider.getTracer('lingate', version);
  return {
    tracer: new RequestSpans({ api: sdk.api, tracer, sample, followCallers, now, nowMs }),
    async close(withinMs) {
      const { promise: over, resolve } = Promise.withResolvers<void>();
      const timer = setTimeout(resolve, withinMs);
      await Promise.race([provider.shutdown().catch(() => undefined), over]);
      clearTimeout(timer);
    },
  };
}

/** Why traces could not be sent with these settings: says what would be right. */
export async function tryTelemetry(settings: OtelSettings): Promise<string | undefined> {
  let sdk: Sdk;
  try {
    sdk = await loadSdk();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error;
    return `needs the optional packages ${PACKAGES.join(', ')}, and at least one is not installed; install without --omit=optional`;
  }
  try {
    await exporterOf(sdk, settings).shutdown();
    return undefined;
  } catch {
    return 'an OTEL_EXPORTER_OTLP_* variable cannot be used: see the manual, tracing.md';
  }
}

async function loadSdk() {
  const [api, trace, resources, { OTLPTraceExporter }] = await Promise.all([
    import('@opentelemetry/api'),
    import('@opentelemetry/sdk-trace'),
    import('@opentelemetry/resources'),
    import('@opentelemetry/exporter-trace-otlp-proto'),
  ]);
  const { AlwaysOnSampler, BatchSpanProcessor, TracerProvider } = trace;
  return { api, AlwaysOnSampler, BatchSpanProcessor, TracerProvider, resources, OTLPTraceExporter };
}

function exporterOf({ OTLPTraceExporter }: Sdk, { url, headers }: OtelSettings): SpanExporter {
  return new OTLPTraceExporter({ ...(url !== undefined && { url }), ...(headers !== undefined && { headers }) });
}

/**
 * Logs failed exports in our words: the first at once, then one line a minute, and one when they
 * work again. The SDK would print what the collector said.
 */
function loggedExporter(exporter: SpanExporter, log: Log, now: () => number): SpanExporter {
  let loggedAtMs: number | undefined;
  let lost = 0;
  const failed = (spans: number, reason: string): void => {
    lost += spans;
    if (loggedAtMs !== undefined && now() - loggedAtMs < LOGGED_EVERY_MS) return;
    loggedAtMs = now();
    log.warn('OpenTelemetry: exports fail and are lost; callers notice nothing', { reason, items_lost: lost });
    lost = 0;
  };
  const worked = (): void => {
    if (loggedAtMs === undefined) return;
    log.info('OpenTelemetry: exports work again', { items_lost: lost });
    loggedAtMs = undefined;
    lost = 0;
  };
  return {
    export: (spans, done) =>
      exporter.export(spans, ({ error }) => {
        if (error === undefined) worked();
        else failed(spans.length, reasonOf(error));
        done({ code: 0 });
      }),
    shutdown: () => exporter.shutdown(),
  };
}

function reasonOf({ code }: Error & { readonly code?: unknown }): string {
  if (typeof code === 'number') return `status:${code}`;
  return typeof code === 'string' && /^[A-Z_]+$/.test(code) ? code : 'failed';
}

/**
 * `OTEL_RESOURCE_ATTRIBUTES` and `OTEL_SERVICE_NAME` win. A given `service.instance.id` would be
 * all processes', so the process is added.
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
