// How a request ends: an answer, complete or streamed, a problem, or a caller who disconnected. An
// answer that seldom changes is built once, with a validator for 304s (RFC 9110, section 13).
import type { Readable } from 'node:stream';
import { hash } from 'node:crypto';
import type { Problem } from './problem.ts';

/** Extra response fields, in order. Values are of constants and numbers, never of request data. */
export type HeaderList = readonly (readonly [name: string, value: string])[];

/** A successful answer. `body` is sent unchanged; without a `contentType` there is none (204). */
export interface Reply {
  readonly kind: 'reply';
  readonly status: number;
  readonly contentType: string | undefined;
  /** Bytes for what is sent often: text is encoded each time. */
  readonly body: string | Uint8Array;
  readonly headers: HeaderList;
}

/**
 * A successful streamed answer. The chain is settled after its last byte: with this outcome, with
 * `client_closed` if the caller disconnected, or with `broken`.
 */
export interface StreamReply {
  readonly kind: 'stream';
  readonly status: number;
  readonly contentType: string | undefined;
  readonly headers: HeaderList;
  /** Length of the body; `undefined` if unknown in advance. */
  readonly bytes: number | undefined;
  readonly body: Readable;
  /** Passed to `settle` if the source fails midway. The caller only sees the connection close. */
  readonly broken: Refusal;
}

/** A failure reported to the caller as a problem document (RFC 9457). */
export interface Refusal {
  readonly kind: 'problem';
  readonly problem: Problem;
}

/** The caller closed the connection before there was an answer; nothing is sent. */
interface ClientClosed {
  readonly kind: 'client_closed';
}

export type Outcome = Reply | StreamReply | Refusal | ClientClosed;

/**
 * Returned by a step that waits without a promise: it must have `Exchange.resume` called exactly
 * once, after `run` has returned.
 */
export const LATER = Symbol('later');

/** What a step returns: nothing to continue, an outcome to end the chain, or `LATER`. */
export type StepResult = Outcome | undefined | typeof LATER;

/** Goes on with a value, at once or when its promise has resolved. Only waiting costs a promise. */
export function andThen<T, R>(value: T | Promise<T>, goOn: (value: T) => R | Promise<R>): R | Promise<R> {
  return value instanceof Promise ? value.then(goOn) : goOn(value);
}

/** The content type of nearly every answer. */
export const JSON_TYPE = 'application/json';

export const NO_HEADERS: HeaderList = [];
export const CLIENT_CLOSED: ClientClosed = { kind: 'client_closed' };

/** An answer with status 200 (or `status`) and a body that is already serialized JSON. */
export function json(body: string, status = 200, headers: HeaderList = NO_HEADERS): Reply {
  return { kind: 'reply', status, contentType: JSON_TYPE, body, headers };
}

/** For `headers` of a step that calls `unlessKnown`. */
export const IF_NONE_MATCH = 'if-none-match';
const TAG_LENGTH = 22;

export interface ValidatedReply {
  readonly tag: string;
  readonly whole: Reply;
  readonly notModified: Reply;
}

/** The reply with an `ETag`, made of its body. */
export function validated(reply: Reply): ValidatedReply {
  const tag = `"${hash('sha256', reply.body, 'base64url').slice(0, TAG_LENGTH)}"`;
  const headers = [['ETag', tag] as const, ...reply.headers];
  return {
    tag,
    whole: { ...reply, body: Buffer.from(reply.body), headers },
    notModified: { kind: 'reply', status: 304, contentType: undefined, body: '', headers },
  };
}

/** `known` is `If-None-Match`, in which a quoted tag occurs only as a member of its list. */
export function unlessKnown({ tag, whole, notModified }: ValidatedReply, known: string | undefined): Reply {
  return known !== undefined && (known === '*' || known.includes(tag)) ? notModified : whole;
}
