// Evaluates the fields of an answer's head: its length, its request id, whether the connection can be reused, when to retry.
import { SPACE, TAB } from './http-bytes.ts';

/** The fields that are evaluated, by index; all others are only checked for invalid bytes. */
const NAMES = ['content-length', 'transfer-encoding', 'connection', 'keep-alive', 'x-request-id', 'retry-after'].map((name) =>
  Buffer.from(name, 'latin1'),
);
const [CONTENT_LENGTH, TRANSFER_ENCODING, CONNECTION] = [0, 1, 2];
/** These two do not affect the framing. */
export const REQUEST_ID = 4;
const RETRY_AFTER = 5;
const TIMEOUT = /(?:^|[ \t,])timeout=(\d+)/i;

/** Including white space: a longer field was truncated and cannot be one of our ids. */
const ID_FIELD_BYTES_MAX = 128;

export const OTHER_FIELD = -1;
/** A longer name cannot be one of `NAMES`. */
export const NAME_BYTES_MAX = Math.max(...NAMES.map(({ length }) => length));

/** The index of an evaluated field, or `OTHER_FIELD`; `name` is in lower case. */
export function framingFieldOf(name: Uint8Array, length: number): number {
  for (let field = 0; field < NAMES.length; field++) {
    const wanted = NAMES[field]!;
    if (wanted.length !== length) continue;
    let same = 0;
    while (same < length && wanted[same] === name[same]) same++;
    if (same === length) return field;
  }
  return OTHER_FIELD;
}

/** Fields that are not allowed in trailers, because they would come too late. */
export function isOfFraming(field: number): boolean {
  return field !== OTHER_FIELD && field !== REQUEST_ID && field !== RETRY_AFTER;
}

export class ResponseFraming {
  /** -1 if there is none. */
  contentLength = -1;
  chunked = false;
  /** The server closes the connection after this answer. */
  closes = false;
  /** How long the server keeps an idle connection, if it announced that. */
  keepsSeconds = Infinity;
  /** The id that the request was sent with; empty if there was none. */
  expectedId = '';
  /** The result for `X-Request-Id`; among several fields, any foreign one decides. */
  id: 'none' | 'ours' | 'foreign' = 'none';
  retryAfter: string | undefined = undefined;

  begin(): void {
    this.contentLength = -1;
    this.chunked = false;
    this.closes = false;
    this.keepsSeconds = Infinity;
    this.id = 'none';
    this.retryAfter = undefined;
  }

  /** Evaluates a field's value, including surrounding white space. Returns false if it is ambiguous, alone or with earlier fields. */
  take(field: number, bytes: Buffer, length: number): boolean {
    let from = 0;
    let to = length;
    while (from < to && isBlank(bytes[from]!)) from++;
    while (to > from && isBlank(bytes[to - 1]!)) to--;
    if (field === CONTENT_LENGTH) return this.#takeLength(bytes, from, to);
    if (field === REQUEST_ID) return this.#takeId(bytes, from, length > ID_FIELD_BYTES_MAX ? from : to);
    const value = bytes.toString('latin1', from, to);
    if (field === TRANSFER_ENCODING) return this.#takeCoding(value);
    if (field === CONNECTION) this.#takeConnection(value);
    else if (field === RETRY_AFTER) this.retryAfter = value;
    else this.#takeKeepAlive(value);
    return true;
  }

  /** Digits only, and a single field: two, even if equal, suggest a tampered answer. */
  #takeLength(bytes: Uint8Array, from: number, to: number): boolean {
    let length = 0;
    for (let at = from; at < to; at++) {
      const digit = bytes[at]! - 0x30;
      if (digit < 0 || digit > 9) return false;
      length = length * 10 + digit;
    }
    const clear = from < to && this.contentLength === -1;
    this.contentLength = length;
    return clear;
  }

  /** Compared as bytes, because an engine may echo the id in every answer. */
  #takeId(bytes: Uint8Array, from: number, to: number): true {
    const { expectedId } = this;
    let same = expectedId !== '' && to - from === expectedId.length;
    for (let i = 0; same && i < expectedId.length; i++) same = bytes[from + i] === expectedId.charCodeAt(i);
    if (!same) this.id = 'foreign';
    else if (this.id === 'none') this.id = 'ours';
    return true;
  }

  /** No other coding was requested, and a list would be ambiguous. */
  #takeCoding(value: string): boolean {
    const clear = !this.chunked && value.toLowerCase() === 'chunked';
    this.chunked = true;
    return clear;
  }

  #takeConnection(value: string): void {
    if (value === 'keep-alive') return;
    for (const option of value.split(',')) {
      if (option.trim().toLowerCase() === 'close') this.closes = true;
    }
  }

  #takeKeepAlive(value: string): void {
    const seconds = TIMEOUT.exec(value)?.[1];
    if (seconds !== undefined) this.keepsSeconds = Number(seconds);
  }
}

function isBlank(byte: number): boolean {
  return byte === SPACE || byte === TAB;
}
