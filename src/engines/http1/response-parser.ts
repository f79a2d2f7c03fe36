// Parses an HTTP/1.x answer: by RFC 9112, but stricter where it is ambiguous. Independent of
// sockets and of how bytes are split.
import { answeredId } from '../../domain/ulid.ts';
import type { EngineResponse } from '../../ports/engine.ts';

/** `malformed` includes ambiguous answers; `foreign` is the answer to another request. */
type Reading = 'open' | 'complete' | 'malformed' | 'too_large' | 'foreign';

/** Of a head, of the trailers, and of all extensions of chunks together. */
export const HEAD_BYTES_MAX = 16_384;
/** How far ahead the end of a chunk's size is looked for at a time. */
const SIZE_BYTES = 256;
/** Limit on interim answers (1xx) before the final one. */
export const INTERIMS_MAX = 16;
/** Of a field that decides about framing or the connection. */
const VALUE_CHARACTERS_MAX = 256;
/** Initial size for a body of unknown length. */
const ROOM_BYTES = 4096;
const NOTHING = Buffer.alloc(0);
const SPACE = 0x20;

// No control characters but tab; white space in front would continue the previous field.
const HEAD = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: [\t -~\x80-\xff]*)?\r\n(?:[\w!#$%&'*+.^`|~-]+:[\t -~\x80-\xff]*\r\n)*$/;
const TRAILERS = /^\r\n(?:[\w!#$%&'*+.^`|~-]+:[\t -~\x80-\xff]*\r\n)*$/;
const CHUNK = /^\r\n([\da-f]{1,8})/i;
const EXTENSION = /^[\t -~\x80-\xff]*$/;
const EVALUATED = /\n(content-length|transfer-encoding|connection|keep-alive|x-request-id|retry-after):([^\r]*)/gi;
const BARE_CR_OR_LF = /(?<!\r)\n|\r(?!\n|$)/;
const PROTOCOL = 'HTTP/1.';

type Phase = 'head' | 'length' | 'size' | 'chunk' | 'trailers' | 'until end';

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
  #phase: Phase = 'head';
  /** What has come of a head, a size or the trailers; the latter two with the line end before. */
  #text = '';
  #interims = 0;
  #status = 0;
  #length = -1;
  #chunked = false;
  #closes = false;
  #seconds = Infinity;
  #echo: 'none' | 'ours' | 'foreign' = 'none';
  #retryAfter: string | undefined = undefined;
  #chunkLeft = 0;
  #extensionBytes = 0;
  #body: Buffer = NOTHING;
  #bodyBytes = 0;

  /** `id` is the request's, empty for none; `strict` rejects an answer with another id. */
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
    this.#extensionBytes = 0;
    this.#beginHead();
  }

  #beginHead(): void {
    this.#phase = 'head';
    this.#text = '';
    this.#chunked = this.#closes = false;
    this.#length = -1;
    this.#seconds = Infinity;
    this.#echo = 'none';
    this.#retryAfter = undefined;
  }

  /** Goes on until the answer is complete or unusable. The bytes may be overwritten afterwards. */
  read(bytes: Buffer, length = bytes.length): Reading {
    let at = 0;
    while (at < length && this.#reading === 'open') {
      switch (this.#phase) {
        case 'length':
          at += this.#take(bytes, at, Math.min(length, at + this.#length - this.#bodyBytes));
          if (this.#bodyBytes === this.#length) this.#reading = 'complete';
          break;
        case 'chunk': {
          const taken = this.#take(bytes, at, Math.min(length, at + this.#chunkLeft));
          at += taken;
          this.#chunkLeft -= taken;
          if (this.#chunkLeft === 0) this.#phase = 'size';
          break;
        }
        case 'until end':
          if (this.#bodyBytes + length - at > this.#bodyBytesMax) this.#reading = 'too_large';
          else this.#take(bytes, at, length);
          at = length;
          break;
        case 'size':
          at = this.#readText(bytes, at, Math.min(length, at + SIZE_BYTES), '\r\n');
          break;
        case 'head':
        case 'trailers':
          at = this.#readText(bytes, at, Math.min(length, at + HEAD_BYTES_MAX - this.#text.length), '\r\n\r\n');
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

  /** Up to its end, or as far as it has come. Limits count bytes, whatever the splits. */
  #readText(bytes: Buffer, from: number, to: number, mark: string): number {
    const before = this.#text.length;
    const text = this.#text + bytes.toString('latin1', from, to);
    // A size begins behind the end of the chunk before it.
    const end = text.indexOf(mark, Math.max(this.#phase === 'size' ? mark.length : 0, before - mark.length));
    if (end === -1) {
      this.#text = text;
      this.#reading = this.#begunReading(text, before);
      return to;
    }
    this.#text = '';
    if (this.#phase === 'head') this.#reading = this.#headReading(text.slice(0, end + 2));
    else if (this.#phase === 'size') this.#reading = this.#sizeReading(text.slice(0, end), true);
    else this.#reading = this.#trailersReading(text.slice(0, end + 2));
    return from + end + mark.length - before;
  }

  /** Without its end, which should not have to be waited for if this cannot become right. */
  #begunReading(text: string, before: number): Reading {
    const line = text.endsWith('\r') ? text.slice(0, -1) : text;
    const reading = this.#phase === 'size' ? this.#sizeReading(line, false) : 'open';
    if (reading !== 'open') return reading;
    if (this.#phase !== 'size' && text.length === HEAD_BYTES_MAX) return 'too_large';
    if (this.#phase === 'head' && !text.startsWith(PROTOCOL.slice(0, text.length))) return 'malformed';
    // What came before is right, but for a return at its end.
    return BARE_CR_OR_LF.test(text.slice(text[before - 1] === '\r' ? before - 1 : before)) ? 'malformed' : 'open';
  }

  #sizeReading(line: string, isComplete: boolean): Reading {
    const [begin, digits = ''] = CHUNK.exec(line) ?? [];
    if (begin === undefined) return !isComplete && '\r\n'.startsWith(line) ? 'open' : 'malformed';
    const bytes = Number.parseInt(digits, 16);
    if (bytes > this.#bodyBytesMax - this.#bodyBytes) return 'too_large';
    const extension = line.slice(begin.length);
    // Further digits could only be leading zeros.
    if (extension !== '' && !extension.startsWith(';')) return 'malformed';
    if (this.#extensionBytes + extension.length > HEAD_BYTES_MAX) return 'too_large';
    if (!isComplete) return 'open';
    if (!EXTENSION.test(extension)) return 'malformed';
    this.#extensionBytes += extension.length;
    this.#chunkLeft = bytes;
    this.#phase = bytes > 0 ? 'chunk' : 'trailers';
    if (bytes === 0) this.#text = '\r\n';
    return 'open';
  }

  #trailersReading(trailers: string): Reading {
    if (!TRAILERS.test(trailers) || !this.#areClear(trailers)) return 'malformed';
    return this.#strict && this.#echo === 'foreign' ? 'foreign' : 'complete';
  }

  #headReading(head: string): Reading {
    const [found, minor, status] = HEAD.exec(head) ?? [];
    if (found === undefined || !this.#areClear(head)) return 'malformed';
    this.#status = Number(status);
    const isOld = minor === '0';
    if (this.#strict && this.#echo === 'foreign') return 'foreign';
    const sized = this.#length !== -1;
    // Response smuggling: chunked with a length, or chunked in HTTP/1.0.
    if (this.#chunked && (sized || isOld)) return 'malformed';
    if (this.#status < 200) {
      // We request no upgrade (101); an interim answer may neither have a body nor close.
      if (this.#status === 101 || this.#chunked || sized || this.#closes || ++this.#interims > INTERIMS_MAX) return 'malformed';
      this.#beginHead();
      return 'open';
    }
    const bodiless = this.#status === 204 || this.#status === 304;
    const lasts = !isOld && !this.#closes && !(bodiless && (this.#chunked || this.#length > 0)) && (bodiless || sized || this.#chunked);
    this.keepsSeconds = lasts ? this.#seconds : 0;
    if (bodiless || this.#length === 0) return 'complete';
    if (this.#length > this.#bodyBytesMax) return 'too_large';
    this.#phase = this.#chunked ? 'size' : sized ? 'length' : 'until end';
    // As before every other chunk.
    if (this.#chunked) this.#text = '\r\n';
    if (sized) this.#body = Buffer.allocUnsafe(this.#length);
    return 'open';
  }

  /** Evaluates the fields of a head or of trailers; `false` if they are ambiguous. */
  #areClear(section: string): boolean {
    EVALUATED.lastIndex = 0;
    for (let found = EVALUATED.exec(section); found !== null; found = EVALUATED.exec(section)) {
      if (!this.#isClear(found[1]!.toLowerCase(), trimmed(found[2]!))) return false;
    }
    return true;
  }

  #isClear(name: string, value: string): boolean {
    if (name === 'x-request-id') {
      this.#takeId(value);
      return true;
    }
    if (name === 'retry-after') {
      this.#retryAfter = value;
      return true;
    }
    if (this.#phase === 'trailers' || value.length > VALUE_CHARACTERS_MAX) return false;
    switch (name) {
      case 'content-length':
        // Two, even if equal, suggest a tampered answer.
        if (!/^\d+$/.test(value) || this.#length !== -1) return false;
        this.#length = Number(value);
        return true;
      case 'transfer-encoding':
        // No other coding was requested, and a list would be ambiguous.
        if (value.toLowerCase() !== 'chunked' || this.#chunked) return false;
        this.#chunked = true;
        return true;
      case 'connection':
        if (value !== 'keep-alive') this.#closes ||= value.split(',').some((option) => option.trim().toLowerCase() === 'close');
        return true;
      default:
        this.#seconds = Number(/(?:^|[ \t,])timeout=(\d+)/i.exec(value)?.[1] ?? this.#seconds);
        return true;
    }
  }

  /** Among several fields, any foreign one decides, and the server's own say nothing. */
  #takeId(value: string): void {
    const found = answeredId(value, this.#id);
    if (found === 'foreign') this.#echo = 'foreign';
    else if (found === 'ours' && this.#echo === 'none') this.#echo = 'ours';
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
