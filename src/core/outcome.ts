// What a request ends in: an answer, whole or as it comes, a problem, or a caller who left before either.
import type { ByteSource } from './byte-stream.ts';
import type { Problem } from './problem.ts';

/** Extra response fields, in order. Values are built from constants and numbers, never from request data. */
export type HeaderList = readonly (readonly [name: string, value: string])[];

/** A successful answer. `body` is sent as it is; `contentType` is left out where there is no body (204). */
export interface Reply {
  readonly kind: 'reply';
  readonly status: number;
  readonly contentType: string | undefined;
  readonly body: string;
  readonly headers: HeaderList;
}

/**
 * A successful answer that is written as it comes. The chain is settled when the last byte was handed over: as this, or as
 * `client_closed` when the caller left before, or as `broken`.
 */
export interface StreamReply {
  readonly kind: 'stream';
  readonly status: number;
  readonly contentType: string | undefined;
  readonly headers: HeaderList;
  readonly body: ByteSource;
  /** The outcome for `settle` when the source fails midway. The caller sees only that the connection ends. */
  readonly broken: Refusal;
}

/** A failure that is answered to the caller, as a problem (RFC 9457). */
export interface Refusal {
  readonly kind: 'problem';
  readonly problem: Problem;
}

/** The caller closed the connection before an answer existed; nothing is sent. */
export interface ClientClosed {
  readonly kind: 'client_closed';
}

export type Outcome = Reply | StreamReply | Refusal | ClientClosed;

/**
 * Returned by a step that waits without a promise. It has to see to it that `Exchange.resume` is called once, after `run` has
 * returned.
 */
export const LATER = Symbol('later');

/** What a step returns: nothing to go on, an outcome to end the chain, or `LATER`. */
export type StepResult = Outcome | undefined | typeof LATER;

/** Of nearly every answer. */
export const JSON_TYPE = 'application/json';

export const NO_HEADERS: HeaderList = [];
export const CLIENT_CLOSED: ClientClosed = { kind: 'client_closed' };

/** A 200 (or `status`) with a JSON body that is already serialised. */
export function json(body: string, status = 200, headers: HeaderList = NO_HEADERS): Reply {
  return { kind: 'reply', status, contentType: JSON_TYPE, body, headers };
}
