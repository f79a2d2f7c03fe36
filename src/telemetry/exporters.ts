// What the SDK hands its spans and metrics to: each is serialized by the SDK and sent by ours. It always reports success, because
// failures are told in our own log, and the SDK would print them.
import type { PushMetricExporter, ResourceMetrics } from '@opentelemetry/sdk-metrics';
import type { ReadableSpan, SpanExporter, SpanProcessor } from '@opentelemetry/sdk-trace';
import type { ExportLog } from './export-log.ts';
import type { OtlpSender } from './otlp-sender.ts';

/** As `ExportResultCode.SUCCESS`. */
const SUCCESS = { code: 0 } as const;

interface Serializer<Items> {
  serializeRequest(items: Items): Uint8Array | undefined;
}

export interface ExporterParts<Items> {
  readonly serializer: Serializer<Items>;
  readonly sender: OtlpSender;
  readonly log: ExportLog;
}

type ExportDone = (result: typeof SUCCESS) => void;

async function exported<Items>({ serializer, sender, log }: ExporterParts<Items>, items: Items, count: number): Promise<void> {
  try {
    const body = serializer.serializeRequest(items);
    const refused = body === undefined ? undefined : await sender.send(body);
    if (refused === undefined) log.worked();
    else log.failed(count, refused);
  } catch {
    log.failed(count, 'internal');
  }
}

/** Spans that wait or are being sent are never more than `max`; any more are dropped. */
export class SpanOutlet implements SpanExporter {
  readonly #parts: ExporterParts<ReadableSpan[]>;
  readonly #max: number;
  #held = 0;

  constructor(parts: ExporterParts<ReadableSpan[]>, max: number) {
    this.#parts = parts;
    this.#max = max;
  }

  /** In front of the SDK's own processor, which collects batches. */
  bounded(inner: SpanProcessor): SpanProcessor {
    return {
      onStart: () => undefined,
      onEnd: (span) => {
        if (this.#held >= this.#max) return this.#parts.log.dropped(1);
        this.#held++;
        inner.onEnd(span);
      },
      forceFlush: () => inner.forceFlush(),
      shutdown: () => inner.shutdown(),
    };
  }

  export(spans: ReadableSpan[], done: ExportDone): void {
    void this.#export(spans, done);
  }

  shutdown(): Promise<void> {
    return Promise.resolve();
  }

  async #export(spans: ReadableSpan[], done: ExportDone): Promise<void> {
    await exported(this.#parts, spans, spans.length);
    this.#held -= spans.length;
    done(SUCCESS);
  }
}

/** The next export has the same counts and more: nothing is lost by one that fails. */
export class MetricOutlet implements PushMetricExporter {
  readonly #parts: ExporterParts<ResourceMetrics>;

  constructor(parts: ExporterParts<ResourceMetrics>) {
    this.#parts = parts;
  }

  export(metrics: ResourceMetrics, done: ExportDone): void {
    void this.#export(metrics, done);
  }

  forceFlush(): Promise<void> {
    return Promise.resolve();
  }

  shutdown(): Promise<void> {
    return Promise.resolve();
  }

  async #export(metrics: ResourceMetrics, done: ExportDone): Promise<void> {
    await exported(this.#parts, metrics, 0);
    done(SUCCESS);
  }
}
