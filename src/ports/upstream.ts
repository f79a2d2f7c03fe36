// The upstream of forward routes: streams one request in and one answer out, in a single attempt.
import type { ByteSource } from '../core/byte-stream.ts';
import type { Cancellation } from '../core/exchange.ts';

/** Everything that is sent to the upstream. */
export interface UpstreamRequest {
  readonly method: string;
  /** Scheme, host and port. */
  readonly origin: string;
  /** Path and query, as they go on the wire. */
  readonly target: string;
  /** Lower-case names. Framing and hop-by-hop fields are set by the upstream client. */
  readonly headers: Readonly<Record<string, string>>;
  /** `undefined` when there is none. */
  readonly body: ByteSource | undefined;
  readonly bodyBytesMax: number;
  /** Silence timeout: applies while the upstream has the request and does not answer, or while we read and it does not send. */
  readonly silenceMs: number;
  /** Whether an answer with an `X-Request-Id` other than that of `headers` is refused. */
  readonly checkIds: boolean;
  /** Deadline for everything, including the answer; `undefined` for none. */
  readonly totalMs: number | undefined;
}

/** Why there is no answer: a fixed set of words for logs, never the upstream's own text. */
export type UpstreamFailure = 'connect' | 'reset' | 'timeout' | 'no_length' | 'foreign_id' | 'unasked' | 'cancelled' | 'internal';

export type UpstreamResult =
  | UpstreamAnswer
  | { readonly kind: 'failed'; readonly failure: UpstreamFailure }
  /** The caller's body was longer than `bodyBytesMax`. */
  | { readonly kind: 'too_large' }
  /** The caller's body had not arrived when `totalMs` was over, and the upstream would have taken more of it. */
  | { readonly kind: 'too_slow' };

export interface UpstreamAnswer {
  readonly kind: 'answer';
  readonly status: number;
  /** Lower-case names; a list for a repeated field. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** Must be opened or cancelled. Fails if the upstream dies, stalls, or exceeds the total deadline. */
  readonly body: ByteSource;
}

export interface Upstream {
  /** Never rejects. Resolves with an answer only after the whole request was sent, unless the status already indicates failure. */
  call(request: UpstreamRequest, cancellation: Cancellation): Promise<UpstreamResult>;
}
