// Traces of one process: where they are sent, what sends them, and what traces requests.
import type { RequestHead } from '../core/exchange.ts';
import type { RequestTrace } from '../domain/request-trace.ts';
import type { AccessEntry } from './access-entry.ts';

/** Contains secrets: do not print it. */
export interface OtelSettings {
  /** Where spans are sent; `undefined` for where the standard variables say. */
  readonly url: string | undefined;
  /** `undefined` for those of the standard variables. */
  readonly headers: Readonly<Record<string, string>> | undefined;
  readonly sample: number;
  readonly followCallers: boolean;
  /** Unless a variable that the SDK reads gives another. */
  readonly serviceName: string;
  /** How long a span waits for others, how many wait, and how many are sent at a time. */
  readonly queue: { readonly delayMs: number; readonly spansMax: number; readonly batchMax: number };
  /** The names of the `OTEL_*` variables that are set. */
  readonly variables: readonly string[];
}

export interface Telemetry {
  readonly tracer: RequestTracer;
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
