// Traces requests: decides at the head of each whether it is sampled, and takes its end.
import type { RequestHead } from '../core/exchange.ts';
import type { RequestTrace } from '../domain/request-trace.ts';
import type { AccessEntry } from './access-entry.ts';

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

export interface RequestTracer {
  /** `undefined` for a request that is not sampled: nothing is created for it. Never throws. */
  begin(request: BegunRequest): OpenTrace | undefined;
}
