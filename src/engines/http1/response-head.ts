// A strict, incremental parser for the head of an HTTP/1.x answer, and for its trailer fields.
import { COLON, CR, LF, NAME_BYTES, TEXT_BYTES } from './http-bytes.ts';
import { framingFieldOf, isOfFraming, NAME_BYTES_MAX, OTHER_FIELD, ResponseFraming } from './response-framing.ts';

/** `malformed` includes ambiguous answers; `foreign` is the answer to another request. */
export type Reading = 'open' | 'complete' | 'malformed' | 'too_large' | 'foreign';

/** Per head, and per trailer section. */
export const HEAD_BYTES_MAX = 16_384;
export const FIELDS_MAX = 256;
/** Limit for the value of an evaluated field. */
const VALUE_BYTES_MAX = 256;

const START_LINE = Buffer.from('HTTP/1.? ??? ', 'latin1');
const [MINOR_AT, STATUS_AT, STATUS_END] = [7, 9, 12];

/** The position within the head. */
const [IN_START_LINE, IN_STATUS_TEXT, LINE_BEGIN, IN_NAME, IN_VALUE, LINE_END, HEAD_END] = [0, 1, 2, 3, 4, 5, 6];

export class ResponseHeadParser {
  readonly framing = new ResponseFraming();
  reading: Reading = 'open';
  status = 0;
  /** HTTP/1.0: the connection closes after its answer. */
  old = false;
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

  begin(): void {
    this.#rewind(IN_START_LINE, false);
    this.framing.begin();
    this.status = 0;
    this.old = false;
  }

  beginTrailers(): void {
    this.#rewind(LINE_BEGIN, true);
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
      else if (this.#place === IN_STATUS_TEXT) at = this.#readStatusText(bytes, at, stop);
      else this.#readLineEdge(bytes[at++]!);
    }
    this.#bytes += at - from;
    if (this.#bytes === HEAD_BYTES_MAX && this.reading === 'open') this.reading = 'too_large';
    return at;
  }

  #rewind(place: number, trailing: boolean): void {
    this.reading = 'open';
    this.#place = place;
    this.#trailing = trailing;
    this.#startLineAt = 0;
    this.#bytes = 0;
    this.#fields = 0;
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
      this.#place = IN_STATUS_TEXT;
    }
  }

  #readStatusText(bytes: Uint8Array, from: number, to: number): number {
    let at = from;
    while (at < to && TEXT_BYTES[bytes[at]!] === 1) at++;
    if (at === to) return at;
    if (bytes[at] === CR) this.#place = LINE_END;
    else this.reading = 'malformed';
    return at + 1;
  }

  /** The bytes before and after a line end. */
  #readLineEdge(byte: number): void {
    if (this.#place === HEAD_END) {
      this.reading = byte === LF ? 'complete' : 'malformed';
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
    this.#field = framingFieldOf(this.#name, this.#nameBytes);
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
    if (bytes[at] !== CR || !this.#takeValue()) this.reading = 'malformed';
    else this.#place = LINE_END;
    return at + 1;
  }

  #takeValue(): boolean {
    return this.#field === OTHER_FIELD || this.framing.take(this.#field, this.#value, this.#valueBytes);
  }
}
