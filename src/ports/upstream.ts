// The upstream of forward routes: takes one request as it comes, gives one answer as it comes, tries once.
import type { ByteSource } from '../core/byte-stream.ts';
import type { Cancellation } from '../core/exchange.ts';

/** All that goes to the upstream. */
export interface UpstreamRequest {
  readonly method: string;
  /** Scheme, host and port. */
  readonly origin: string;
  /** Path and query, as they go on the wire. */
  readonly target: string;
  /** Lower-case names. Neither framing nor hop-by-hop fields: those are the upstream's own affair. */
  readonly headers: Readonly<Record<string, string>>;
  /** `undefined` when there is none. */
  readonly body: ByteSource | undefined;
  readonly bodyBytesMax: number;
  /** The upstream is given up when it is silent for so long: while it has the request and does not answer, or we read and it does not send. */
  readonly silenceMs: number;
  /** Whether an answer with an `X-Request-Id` other than that of `headers` is refused. */
  readonly checkIds: boolean;
  /** All of it, answer included, has to be over by then; `undefined` is without end. */
  readonly totalMs: number | undefined;
}

/** Why there is no answer: a fixed set of words for logs, never the upstream's own. */
export type UpstreamFailure = 'connect' | 'reset' | 'timeout' | 'no_length' | 'foreign_id' | 'unasked' | 'cancelled' | 'internal';

export type UpstreamResult =
  | UpstreamAnswer
  | { readonly kind: 'failed'; readonly failure: UpstreamFailure }
  /** The caller's body was longer than `bodyBytesMax`. */
  | { readonly kind: 'too_large' };

export interface UpstreamAnswer {
  readonly kind: 'answer';
  readonly status: number;
  /** Lower-case names; repeated ones are joined. */
  readonly headers: Readonly<Record<string, string>>;
  /** To be opened or cancelled. It fails when the upstream dies, is silent, or takes too long in all. */
  readonly body: ByteSource;
}

export interface Upstream {
  /** Never rejects. An answer comes only when the whole request has been sent, unless its status already says no. */
  call(request: UpstreamRequest, cancellation: Cancellation): Promise<UpstreamResult>;
}
