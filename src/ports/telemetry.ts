// Telemetry of one process: where its traces and metrics are sent, what sends them, and what traces requests.
import type { RequestHead } from '../core/exchange.ts';
import type { RequestTrace } from '../domain/request-trace.ts';
import type { AccessEntry } from './access-entry.ts';

/** Where one kind of signal is sent, and how. */
export interface OtelExport {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly encoding: 'protobuf' | 'json';
  readonly gzip: boolean;
  readonly timeoutMs: number;
  /** Paths of PEM files: trusted authorities, and the client's own certificate and key. */
  readonly ca: string | undefined;
  readonly cert: string | undefined;
  readonly key: string | undefined;
}

/** Contains secrets: do not print it. */
export interface OtelSettings {
  /** `undefined`: none are sent. */
  readonly traces: OtelExport | undefined;
  readonly metrics: OtelExport | undefined;
  readonly sample: number;
  readonly followCallers: boolean;
  /** Unless a variable that the SDK reads gives another. */
  readonly serviceName: string;
  /** How long a span waits for others, how many wait, and how many are sent at a time. */
  readonly queue: { readonly delayMs: number; readonly spansMax: number; readonly batchMax: number };
  readonly metricsEveryMs: number;
  /** The variables that replace something of the configuration. */
  readonly variables: readonly string[];
}

export interface Telemetry {
  /** `undefined` if traces are not sent. */
  readonly tracer: RequestTracer | undefined;
  /** Sends what is left, for at most this long; nothing is sent after that. Never rejects. */
  close(withinMs: number): Promise<void>;
}

/** A request at its beginning. */
export interface BegunRequest {
  readonly id: string;
  readonly head: RequestHead;
  readonly startedAtMs: number;
}

/** What is reported of a traced request by its steps, and its end by the first of them. */
export interface OpenTrace extends RequestTrace {
  /** Call it once, with the request's line of the access log. */
  ended(entry: AccessEntry): void;
}

/** Decides at the head of each request whether it is sampled, and takes its end. */
export interface RequestTracer {
  /** `undefined` for a request that is not sampled: nothing is created for it. Never throws. */
  begin(request: BegunRequest): OpenTrace | undefined;
}
