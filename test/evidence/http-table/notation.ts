// The notation of the HTTP table's cases: bytes as text, and what each listener makes of them.

import { UWS_COLUMN } from '../../support/listeners.ts';
import type { UwsColumn } from '../../support/listeners.ts';

/**
 * The outcome of a case, in words in the order of events:
 * - `timer`: nothing came before one of the server's own timers fired;
 * - a number: a complete answer of ours (a problem document for 400 and above), `100` included;
 * - `html:N`: the library's own answer, which has neither request id nor problem document;
 * - `close`: the server ended the connection. Without it the connection is as good as new: the next request on it is
 *   answered, with no other answer in between.
 * - `hangs`: it was still open after every timer.
 * `close` alone is a connection that ended without any answer.
 */
export type Outcome = string;

export interface HttpCase {
  readonly name: string;
  /** The source of the rule: RFC 9110, 9112 or our own decisions. */
  readonly rule: string;
  /** One character is one byte. Several pieces are sent separately, each read before the next is sent. */
  readonly bytes: string | readonly string[];
  /** The client ends its side after the bytes. */
  readonly halfClose?: boolean;
  /** What the rule and our decisions require. */
  readonly expect: Outcome;
  /** What a listener does instead, and the number of the deviation that explains it. */
  readonly uws?: Deviating;
  /** What the newer build of uWebSockets.js does if it differs from `uws`. */
  readonly newer?: Deviating | 'as expected';
  readonly node?: Deviating;
  /** How many of its requests reach a chain of ours; by default one for each 200 and 401 that is expected. */
  readonly handled?: number;
}

/** `handled` if it differs from what the case or the outcome says. */
export type Deviating = readonly [outcome: Outcome, deviation: number, handled?: number];

/** Placeholders in cases; each is replaced by a word of the same length when the case is played. */
export const CASE_MARK = '{case}';
/** Marks a request that no correct reading of the bytes ever finds: it must never be handled. */
export const TAIL_MARK = '{tail}';

/** The key of the team that the cases call as. */
export const KEY = `la_test_${'HttpTable0'.repeat(4)}`;
export const AUTH = `Authorization: Bearer ${KEY}`;
export const JSON_TYPE = 'Content-Type: application/json';
/** A body that is translated. */
export const BODY = '{"text":["{case}"],"target_lang":"DE"}';

/** One row: first the expected outcome, then the input. */
export function row(expect: Outcome, name: string, rule: string, bytes: HttpCase['bytes'], more: Partial<HttpCase> = {}): HttpCase {
  return { name, rule, bytes, expect, ...more };
}

/** The row itself, and once more followed by a request that must never be handled. */
export function withTail(whole: HttpCase): HttpCase[] {
  const tailed = { ...whole, name: `${whole.name}; a request behind it`, bytes: `${String(whole.bytes)}${TAIL}` };
  return [whole, { ...tailed, uws: ['close', 17, handledBy(whole)] }];
}

/** How many chains end with this outcome. */
function handledBy({ expect, handled }: HttpCase): number {
  return handled ?? expect.split(' ').filter((word) => word === '200' || word === '401').length;
}

/** What a listener does instead of the expected outcome, with this build. */
export function deviatingOn(listener: 'uws' | 'node', whole: HttpCase, column: UwsColumn): Deviating | undefined {
  if (listener === 'node' || column === 'older' || whole.newer === undefined) return whole[listener];
  return whole.newer === 'as expected' ? undefined : whole.newer;
}

/** The required outcome on a listener, with the build that is loaded here. */
export function expectedOn(listener: 'uws' | 'node', whole: HttpCase): { readonly outcome: Outcome; readonly handled: number } {
  const deviating = deviatingOn(listener, whole, UWS_COLUMN);
  if (deviating === undefined) return { outcome: whole.expect, handled: handledBy(whole) };
  const [outcome, , handled] = deviating;
  const { handled: own, ...rest } = whole;
  return { outcome, handled: handled ?? own ?? handledBy({ ...rest, expect: outcome }) };
}

/** A head of these lines and the empty one after them. */
export function head(requestLine: string, ...fields: readonly string[]): string {
  return `${[requestLine, 'Host: a', `X-Case: ${CASE_MARK}`, ...fields].join('\r\n')}\r\n\r\n`;
}

/** A head with these fields only. */
export function bare(requestLine: string, ...fields: readonly string[]): string {
  return `${[requestLine, ...fields].join('\r\n')}\r\n\r\n`;
}

export function get(target: string, ...fields: readonly string[]): string {
  return head(`GET ${target} HTTP/1.1`, ...fields);
}

/** POST /v1/translate with a key and without a body length. */
export function translate(...fields: readonly string[]): string {
  return head('POST /v1/translate HTTP/1.1', AUTH, JSON_TYPE, ...fields);
}

/** The same without a key: it is answered while the library is still parsing. */
export function translateKeyless(...fields: readonly string[]): string {
  return head('POST /v1/translate HTTP/1.1', JSON_TYPE, ...fields);
}

/** A translation with its length. */
export function sized(body: string, ...fields: readonly string[]): string {
  return `${translate(...fields, `Content-Length: ${body.length}`)}${body}`;
}

/** A translation in chunks; `body` is the chunked form. */
export function inChunks(body: string, ...fields: readonly string[]): string {
  return `${translate(...fields, 'Transfer-Encoding: chunked')}${body}`;
}

/** One chunk. */
export function chunk(content: string): string {
  return `${content.length.toString(16)}\r\n${content}\r\n`;
}

export const LAST_CHUNK = '0\r\n\r\n';

/** The request that must never be handled. */
export const TAIL = `GET /health HTTP/1.1\r\nHost: a\r\nX-Case: ${TAIL_MARK}\r\n\r\n`;
/** The same for a reading that knows the key and calls the engine. */
export const TAIL_POST = `POST /v1/translate HTTP/1.1\r\nHost: a\r\nX-Case: ${TAIL_MARK}\r\n${AUTH}\r\n${JSON_TYPE}\r\nContent-Length: 38\r\n\r\n{"text":["${TAIL_MARK}"],"target_lang":"DE"}`;
