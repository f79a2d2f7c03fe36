// A strict, incremental parser for the head of an HTTP/1.x answer, and for its trailer fields: the length of the body, the
// request id, whether the connection can be reused, when to retry.
import { answeredId } from '../../domain/request-id.ts';
import { COLON, CR, LF, NAME_BYTES, SPACE, TEXT_BYTES } from './http-bytes.ts';

/** `malformed` includes ambiguous answers; `foreign` is the answer to another request. */
export type Reading = 'open' | 'complete' | 'malformed' | 'too_large' | 'foreign';

/** Per head, and per trailer section. */
export const HEAD_BYTES_MAX = 16_384;
export const FIELDS_MAX = 256;
/** Limit for the value of an evaluated field. */
const VALUE_BYTES_MAX = 256;

const START_LINE = Buffer.from('HTTP/1.? ??? ', 'latin1');
const [MINOR_AT, STATUS_AT, STATUS_END] = [7, 9, 12];
const TIMEOUT = /(?:^|[ \t,])timeout=(\d+)/i;

/** The position within the head. */
const [IN_START_LINE, LINE_BEGIN, IN_NAME, IN_VALUE, LINE_END, HEAD_END] = [0, 1, 2, 3, 4, 5];

/** The fields that are evaluated, by index; all others are only checked for invalid bytes. */
const NAMES = ['content-length', 'transfer-encoding', 'connection', 'keep-alive', 'x-request-id', 'retry-after'].map((name) =>
  Buffer.from(name, 'latin1'),
);
const [CONTENT_LENGTH, TRANSFER_ENCODING, CONNECTION, KEEP_ALIVE, REQUEST_ID, RETRY_AFTER] = [0, 1, 2, 3, 4, 5];
const OTHER_FIELD = -1;
/** A longer name cannot be one of `NAMES`. */
const NAME_BYTES_MAX = Math.max(...NAMES.map(({ length }) => length));

export class ResponseHeadParser {
  /** The id that the request was sent with; empty if there was none. */
  expectedId = '';
  /** Reject an answer with another request's id. */
  strict = false;
  reading: Reading = 'open';
  status = 0;
  /** HTTP/1.0: the connection closes after its answer. */
  old = false;
  /** -1 if there is none. */
  contentLength = -1;
  chunked = false;
  /** The server closes the connection after this answer. */
  closes = false;
  /** How long the server keeps an idle connection, if it announced that. */
  keepsSeconds = Infinity;
  /** The result for `X-Request-Id`; among several fields, any foreign one decides, and the server's own say nothing. */
  id: 'none' | 'ours' | 'foreign' = 'none';
  retryAfter: string | undefined = undefined;
  #place = IN_START_LINE;
  #startLineAt = 0;
  #bytes = 0;
  #fields = 0;
  /** In trailers, fields that affect the framing are not allowed. */
  #trailing = false;
  #field = OTHER_FIELD;
  readonly #name = Buffer.alloc(NAME_BYTES_MAX);
  #nameBytes = 0;
  readonly #value = Buffer.alloc(VALUE_BYTES_MAX);
  #valueBytes = 0;

  /** `trailing`: what follows are the trailer fields of the same answer. */
  begin(trailing = false): void {
    this.reading = 'open';
    this.#place = trailing ? LINE_BEGIN : IN_START_LINE;
    this.#trailing = trailing;
    this.#startLineAt = 0;
    this.#bytes = 0;
    this.#fields = 0;
    if (trailing) return;
    this.status = 0;
    this.old = false;
    this.contentLength = -1;
    this.chunked = false;
    this.closes = false;
    this.keepsSeconds = Infinity;
    this.id = 'none';
    this.retryAfter = undefined;
  }

  /** Continues parsing; returns the position after the last byte consumed. */
  read(bytes: Uint8Array, from: number, to: number): number {
    // The limit counts bytes, so that it does not depend on how the input is split.
    const stop = Math.min(to, from + HEAD_BYTES_MAX - this.#bytes);
    let at = from;
    while (at < stop && this.reading === 'open') {
      if (this.#place === IN_VALUE) at = this.#readValue(bytes, at, stop);
      else if (this.#place === IN_NAME) at = this.#readName(bytes, at, stop);
      else if (this.#place === IN_START_LINE) this.#readStartLine(bytes[at++]!);
      else this.#readLineEdge(bytes[at++]!);
    }
    this.#bytes += at - from;
    if (this.#bytes === HEAD_BYTES_MAX && this.reading === 'open') this.reading = 'too_large';
    return at;
  }

  #readStartLine(byte: number): void {
    const at = this.#startLineAt++;
    const digit = byte - 0x30;
    if (at >= STATUS_AT && at < STATUS_END) {
      this.status = this.status * 10 + digit;
      if (digit < 0 || digit > 9 || this.status === 0) this.reading = 'malformed';
    } else if (at === MINOR_AT) {
      this.old = digit === 0;
      if (digit !== 0 && digit !== 1) this.reading = 'malformed';
    } else if (at === STATUS_END && byte === CR) {
      // Without a reason phrase, many servers also omit the space before it.
      this.#place = LINE_END;
    } else if (byte !== START_LINE[at]) {
      this.reading = 'malformed';
    } else if (at === STATUS_END) {
      // The reason phrase is checked like the value of a field that is not evaluated.
      this.#field = OTHER_FIELD;
      this.#place = IN_VALUE;
    }
  }

  /** The bytes before and after a line end. */
  #readLineEdge(byte: number): void {
    if (this.#place === HEAD_END) {
      if (byte !== LF) this.reading = 'malformed';
      else this.reading = this.strict && this.id === 'foreign' ? 'foreign' : 'complete';
    } else if (this.#place === LINE_END) {
      if (byte === LF) this.#place = LINE_BEGIN;
      else this.reading = 'malformed';
    } else if (byte === CR) {
      this.#place = HEAD_END;
    } else if (NAME_BYTES[byte] === 0) {
      // Includes a space, which would continue the previous field (obsolete folding).
      this.reading = 'malformed';
    } else if (this.#fields === FIELDS_MAX) {
      this.reading = 'too_large';
    } else {
      this.#fields++;
      this.#place = IN_NAME;
      this.#name[0] = NAME_BYTES[byte]!;
      this.#nameBytes = 1;
    }
  }

  #readName(bytes: Uint8Array, from: number, to: number): number {
    let at = from;
    for (; at < to; at++) {
      const byte = NAME_BYTES[bytes[at]!]!;
      if (byte === 0) break;
      if (this.#nameBytes < NAME_BYTES_MAX) this.#name[this.#nameBytes] = byte;
      this.#nameBytes++;
    }
    if (at === to) return at;
    this.#field = fieldOf(this.#name, this.#nameBytes);
    this.#valueBytes = 0;
    if (bytes[at] !== COLON || (this.#trailing && isOfFraming(this.#field))) this.reading = 'malformed';
    else this.#place = IN_VALUE;
    return at + 1;
  }

  #readValue(bytes: Uint8Array, from: number, to: number): number {
    let at = from;
    while (at < to && TEXT_BYTES[bytes[at]!] === 1) {
      if (this.#field !== OTHER_FIELD) {
        // An id or a `Retry-After` of that length is invalid anyway, so truncating it does no harm.
        if (this.#valueBytes === VALUE_BYTES_MAX && isOfFraming(this.#field)) break;
        if (this.#valueBytes < VALUE_BYTES_MAX) this.#value[this.#valueBytes++] = bytes[at]!;
      }
      at++;
    }
    if (at === to) return at;
    if (bytes[at] !== CR || (this.#field !== OTHER_FIELD && !this.#takeValue())) this.reading = 'malformed';
    else this.#place = LINE_END;
    return at + 1;
  }

  /** Evaluates a field's value without surrounding white space. Returns false if it is ambiguous, alone or with earlier fields. */
  #takeValue(): boolean {
    const bytes = this.#value;
    let from = 0;
    let to = this.#valueBytes;
    // Of the bytes allowed in a value, only white space is not above a space.
    while (from < to && bytes[from]! <= SPACE) from++;
    while (to > from && bytes[to - 1]! <= SPACE) to--;
    if (this.#field === CONTENT_LENGTH) return this.#takeLength(from, to);
    if (this.#field === REQUEST_ID) {
      // A value that was cut is longer than any id of ours.
      if (this.#valueBytes < VALUE_BYTES_MAX) this.#takeId(from, to);
      return true;
    }
    const value = bytes.toString('latin1', from, to);
    if (this.#field === TRANSFER_ENCODING) {
      // No other coding was requested, and a list would be ambiguous.
      const clear = !this.chunked && value.toLowerCase() === 'chunked';
      this.chunked = true;
      return clear;
    }
    if (this.#field === CONNECTION && value !== 'keep-alive') {
      this.closes ||= value.split(',').some((option) => option.trim().toLowerCase() === 'close');
    } else if (this.#field === KEEP_ALIVE) {
      const seconds = TIMEOUT.exec(value)?.[1];
      if (seconds !== undefined) this.keepsSeconds = Number(seconds);
    } else if (this.#field === RETRY_AFTER) {
      this.retryAfter = value;
    }
    return true;
  }

  /** Digits only, and a single field: two, even if equal, suggest a tampered answer. */
  #takeLength(from: number, to: number): boolean {
    let length = 0;
    for (let at = from; at < to; at++) {
      const digit = this.#value[at]! - 0x30;
      if (digit < 0 || digit > 9) return false;
      length = length * 10 + digit;
    }
    const clear = from < to && this.contentLength === -1;
    this.contentLength = length;
    return clear;
  }

  /** Compared as bytes, because an engine may echo the id in every answer. */
  #takeId(from: number, to: number): void {
    const { expectedId } = this;
    let same = expectedId !== '' && to - from === expectedId.length;
    for (let i = 0; same && i < expectedId.length; i++) same = this.#value[from + i] === expectedId.charCodeAt(i);
    const found = same ? 'ours' : answeredId(this.#value.toString('latin1', from, to), expectedId);
    if (found === 'foreign') this.id = 'foreign';
    else if (found === 'ours' && this.id === 'none') this.id = 'ours';
  }
}

/** The index of an evaluated field, or `OTHER_FIELD`; `name` is in lower case. */
function fieldOf(name: Uint8Array, length: number): number {
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
function isOfFraming(field: number): boolean {
  return field !== OTHER_FIELD && field !== REQUEST_ID && field !== RETRY_AFTER;
}
