// Parses an HTTP/1.x answer line by line: by RFC 9112, but stricter where it is ambiguous. Independent
// of sockets and of how bytes are split.
import { answeredId } from '../../domain/ulid.ts';
import type { EngineResponse } from '../../ports/engine.ts';

/** `malformed` includes ambiguous answers; `foreign` is the answer to another request. */
type Reading = 'open' | 'complete' | 'malformed' | 'too_large' | 'foreign';

/** Per head, per trailer section, and for all extensions of chunks together. */
export const HEAD_BYTES_MAX = 16_384;
export const FIELDS_MAX = 256;
/** Limit on interim answers (1xx) before the final one. */
export const INTERIMS_MAX = 16;
/** Of a field that decides about framing or the connection. */
const VALUE_CHARACTERS_MAX = 256;
/** Initial size for a body of unknown length. */
const ROOM_BYTES = 4096;
const NOTHING = Buffer.alloc(0);
const LF = 0x0a;
const SPACE = 0x20;

// A line without its end. No control characters except tab; a field that begins with white space would continue the one before.
const START = /^HTTP\/1\.[01] [1-9]\d\d(?: [\t -~\x80-\xff]*)?$/;
const FIELD = /^[\w!#$%&'*+.^`|~-]+:[\t -~\x80-\xff]*$/;
const CHUNK = /^([\da-f]+)(?:;[\t -~\x80-\xff]*)?$/i;
const BEGUN_FIELD = /^(?:[\w!#$%&'*+.^`|~-]+(?::[\t -~\x80-\xff]*)?)?$/;
const TEMPLATE = 'HTTP/1.1 200';
const [MINOR_AT, STATUS_AT] = [7, 9];
const FRAMING = new Set(['content-length', 'transfer-encoding', 'connection', 'keep-alive']);
const EVALUATED = new Set([...FRAMING, 'x-request-id', 'retry-after']);
const EVALUATED_LENGTHS = new Set([...EVALUATED].map(({ length }) => length));

type Phase = 'start' | 'fields' | 'length' | 'size' | 'chunk' | 'chunk end' | 'trailers' | 'until end';

/** Parses one answer after another; call `begin` before each. */
export class ResponseParser {
  /** Further bytes followed the answer in the same read. */
  excess = false;
  /** How long the server keeps the connection, as far as known; 0 if it must not be reused. */
  keepsSeconds = 0;
  #bodyBytesMax = 0;
  #id = '';
  #strict = false;
  #reading: Reading = 'open';
  #phase: Phase = 'start';
  /** The beginning of a line, from the read before. */
  #line = '';
  #interims = 0;
  #status = 0;
  #old = false;
  #length = -1;
  #chunked = false;
  #closes = false;
  #seconds = Infinity;
  #echo: 'none' | 'ours' | 'foreign' = 'none';
  #retryAfter: string | undefined = undefined;
  /** Of the head, the trailers or the extensions. */
  #sectionBytes = 0;
  #fields = 0;
  #chunkLeft = 0;
  #body: Buffer = NOTHING;
  #bodyBytes = 0;

  /** Larger bodies are rejected. `id` is that of the request, empty for none; `strict` rejects an answer with another id. */
  begin(bodyBytesMax: number, id = '', strict = false): void {
    this.#bodyBytesMax = bodyBytesMax;
    this.#id = id;
    this.#strict = strict && id !== '';
    this.excess = false;
    this.keepsSeconds = 0;
    this.#reading = 'open';
    this.#interims = 0;
    this.#body = NOTHING;
    this.#bodyBytes = 0;
    this.#beginHead();
  }

  #beginHead(): void {
    this.#phase = 'start';
    this.#line = '';
    this.#old = this.#chunked = this.#closes = false;
    this.#length = -1;
    this.#seconds = Infinity;
    this.#echo = 'none';
    this.#retryAfter = undefined;
    this.#sectionBytes = this.#fields = 0;
  }

  /** Continues until the answer is complete or unusable. The bytes may be overwritten afterwards. */
  read(bytes: Buffer, length = bytes.length): Reading {
    let at = 0;
    while (at < length && this.#reading === 'open') {
      switch (this.#phase) {
        case 'length':
          at += this.#take(bytes, at, Math.min(length, at + this.#body.length - this.#bodyBytes));
          if (this.#bodyBytes === this.#body.length) this.#reading = 'complete';
          break;
        case 'chunk': {
          const taken = this.#take(bytes, at, Math.min(length, at + this.#chunkLeft));
          at += taken;
          this.#chunkLeft -= taken;
          if (this.#chunkLeft === 0) this.#phase = 'chunk end';
          break;
        }
        case 'until end':
          if (this.#bodyBytes + length - at > this.#bodyBytesMax) this.#reading = 'too_large';
          else this.#take(bytes, at, length);
          at = length;
          break;
        case 'start':
        case 'fields':
        case 'size':
        case 'chunk end':
        case 'trailers':
          at = this.#readLine(bytes, at, length);
      }
    }
    // Bytes after the answer must not reach the next caller.
    if (at < length) {
      this.keepsSeconds = 0;
      this.excess = true;
    }
    return this.#reading;
  }

  /** The server closed the connection, which completes an answer without a length. */
  end(): Reading {
    this.keepsSeconds = 0;
    if (this.#reading === 'open') this.#reading = this.#phase === 'until end' ? 'complete' : 'malformed';
    return this.#reading;
  }

  /** Returns the complete answer, with its own copy of the body, and forgets it. */
  take(): EngineResponse {
    const body = this.#bodyBytes < this.#body.length ? this.#body.subarray(0, this.#bodyBytes) : this.#body;
    this.#body = NOTHING;
    this.#bodyBytes = 0;
    const answer = { status: this.#status, echoedId: this.#echo === 'ours', body };
    return this.#retryAfter === undefined ? answer : { ...answer, retryAfter: this.#retryAfter };
  }

  /** Up to the end of a line, or of what may be read. Limits count bytes, so that they do not depend on how the input is split. */
  #readLine(bytes: Buffer, from: number, length: number): number {
    const isHead = this.#phase !== 'size' && this.#phase !== 'chunk end';
    const stop = isHead ? Math.min(length, from + HEAD_BYTES_MAX - this.#sectionBytes) : length;
    const found = bytes.indexOf(LF, from);
    const to = found !== -1 && found < stop ? found + 1 : stop;
    const text = this.#line + bytes.toString('latin1', from, to);
    if (isHead) this.#sectionBytes += to - from;
    if (text.endsWith('\r\n')) {
      this.#line = '';
      this.#reading = this.#lineReading(text.slice(0, -2), true);
    } else {
      this.#line = text;
      const returned = text.endsWith('\r');
      // What cannot become a line is refused at once, a bare line feed too.
      this.#reading = this.#lineReading(returned ? text.slice(0, -1) : text, false, returned);
    }
    // Past the end of a head its bytes no longer count.
    if (this.#reading === 'open' && isHead && this.#sectionBytes === HEAD_BYTES_MAX) this.#reading = 'too_large';
    return to;
  }

  /** What a line does; one that is not complete is only checked. `returned`: only its line feed is missing. */
  #lineReading(line: string, isComplete: boolean, returned = isComplete): Reading {
    if (this.#phase === 'start') return this.#startReading(line, isComplete, returned);
    if (this.#phase === 'size') return this.#sizeReading(line, isComplete, returned);
    if (this.#phase === 'chunk end') {
      if (line !== '') return 'malformed';
      if (isComplete) this.#phase = 'size';
      return 'open';
    }
    if (line === '') return isComplete ? this.#endFields() : 'open';
    return this.#fieldReading(line, isComplete, returned);
  }

  #startReading(line: string, isComplete: boolean, returned: boolean): Reading {
    if (!START.test(returned ? line : line + TEMPLATE.slice(line.length))) return 'malformed';
    if (!isComplete) return 'open';
    this.#old = line[MINOR_AT] === '0';
    this.#status = Number(line.slice(STATUS_AT, STATUS_AT + 3));
    this.#phase = 'fields';
    return 'open';
  }

  #sizeReading(line: string, isComplete: boolean, returned: boolean): Reading {
    if (line === '' && !returned) return 'open';
    const size = CHUNK.exec(line)?.[1];
    const digits = size ?? /^[\da-f]*/i.exec(line)![0];
    const bytes = digits === '' ? 0 : Number.parseInt(digits.slice(0, 8), 16);
    if (bytes > this.#bodyBytesMax - this.#bodyBytes) return 'too_large';
    // Further digits could only be leading zeros.
    if (size === undefined || digits.length > 8) return 'malformed';
    const extension = Math.max(0, line.length - digits.length - 1);
    if (this.#sectionBytes + extension > HEAD_BYTES_MAX) return 'too_large';
    if (!isComplete) return 'open';
    this.#sectionBytes += extension;
    this.#chunkLeft = bytes;
    this.#phase = bytes > 0 ? 'chunk' : 'trailers';
    if (bytes === 0) this.#sectionBytes = this.#fields = 0;
    return 'open';
  }

  #fieldReading(line: string, isComplete: boolean, returned: boolean): Reading {
    if (this.#fields === FIELDS_MAX) return /^[\w!#$%&'*+.^`|~-]/.test(line) ? 'too_large' : 'malformed';
    if (!FIELD.test(line)) return !returned && BEGUN_FIELD.test(line) ? 'open' : 'malformed';
    const colon = line.indexOf(':');
    if (EVALUATED_LENGTHS.has(colon)) {
      const name = line.slice(0, colon).toLowerCase();
      if (EVALUATED.has(name) && !this.#isClear(name, line.slice(colon + 1), isComplete, returned)) return 'malformed';
    }
    if (isComplete) this.#fields++;
    return 'open';
  }

  /** Evaluates a field, if it is complete; `false` if it is ambiguous, alone or with earlier fields. */
  #isClear(name: string, given: string, isComplete: boolean, returned: boolean): boolean {
    if (FRAMING.has(name) && (this.#phase === 'trailers' || given.length > VALUE_CHARACTERS_MAX)) return false;
    if (!returned) return true;
    const value = trimmed(given);
    switch (name) {
      case 'content-length':
        // Two, even if equal, suggest a tampered answer.
        if (!/^\d+$/.test(value) || this.#length !== -1) return false;
        if (isComplete) this.#length = Number(value);
        return true;
      case 'transfer-encoding':
        // No other coding was requested, and a list would be ambiguous.
        if (value.toLowerCase() !== 'chunked' || this.#chunked) return false;
        if (isComplete) this.#chunked = true;
        return true;
      case 'connection':
        if (value !== 'keep-alive') this.#closes ||= value.split(',').some((option) => option.trim().toLowerCase() === 'close');
        return true;
      case 'keep-alive':
        this.#seconds = Number(/(?:^|[ \t,])timeout=(\d+)/i.exec(value)?.[1] ?? this.#seconds);
        return true;
      case 'retry-after':
        this.#retryAfter = value;
        return true;
      default:
        if (isComplete) this.#takeId(value);
        return true;
    }
  }

  /** Among several fields, any foreign one decides, and the server's own say nothing. */
  #takeId(value: string): void {
    const found = value === this.#id && value !== '' ? 'ours' : answeredId(value, this.#id);
    if (found === 'foreign') this.#echo = 'foreign';
    else if (found === 'ours' && this.#echo === 'none') this.#echo = 'ours';
  }

  #endFields(): Reading {
    if (this.#strict && this.#echo === 'foreign') return 'foreign';
    if (this.#phase === 'trailers') return 'complete';
    const sized = this.#length !== -1;
    // Response smuggling: chunked with a length, or chunked in HTTP/1.0.
    if (this.#chunked && (sized || this.#old)) return 'malformed';
    if (this.#status < 200) {
      // We never request an upgrade (101), and an interim answer must neither have a body nor close the connection.
      if (this.#status === 101 || this.#chunked || sized || this.#closes || ++this.#interims > INTERIMS_MAX) return 'malformed';
      this.#beginHead();
      return 'open';
    }
    const bodiless = this.#status === 204 || this.#status === 304;
    const lasts = !this.#old && !this.#closes && !(bodiless && (this.#chunked || this.#length > 0)) && (bodiless || sized || this.#chunked);
    this.keepsSeconds = lasts ? this.#seconds : 0;
    if (bodiless || this.#length === 0) return 'complete';
    if (this.#length > this.#bodyBytesMax) return 'too_large';
    this.#phase = this.#chunked ? 'size' : sized ? 'length' : 'until end';
    this.#sectionBytes = 0;
    if (sized) this.#body = Buffer.allocUnsafe(this.#length);
    return 'open';
  }

  /** Copies bytes into the body; returns how many. */
  #take(bytes: Buffer, from: number, to: number): number {
    const needed = this.#bodyBytes + to - from;
    if (needed > this.#body.length) {
      const room = Buffer.allocUnsafe(Math.max(needed, Math.min(2 * this.#body.length + ROOM_BYTES, this.#bodyBytesMax)));
      this.#body.copy(room, 0, 0, this.#bodyBytes);
      this.#body = room;
    }
    bytes.copy(this.#body, this.#bodyBytes, from, to);
    this.#bodyBytes = needed;
    return to - from;
  }
}

/** Without tabs and spaces around; not `trim`, which knows more white space. */
function trimmed(value: string): string {
  let [from, to] = [0, value.length];
  while (from < to && value.charCodeAt(from) <= SPACE) from++;
  while (to > from && value.charCodeAt(to - 1) <= SPACE) to--;
  return value.slice(from, to);
}
