// Parses an HTTP/1.x answer from bytes: by RFC 9112, but stricter where it is ambiguous. Independent of sockets.
import type { EngineResponse } from '../../ports/engine.ts';
import { ChunkedBodyParser } from './response-chunks.ts';
import { ResponseHeadParser } from './response-head.ts';
import type { Reading } from './response-head.ts';

/** Limit on interim answers (1xx) before the final one. */
export const INTERIMS_MAX = 16;
/** Initial size for a body of unknown length. */
const ROOM_BYTES = 4096;
const NOTHING = Buffer.alloc(0);

/** The current section. */
const [HEAD, LENGTH, CHUNKS, TRAILERS, UNTIL_END] = [0, 1, 2, 3, 4];

/** Parses one answer after another; call `begin` before each. The result does not depend on how the bytes are split. */
export class ResponseParser {
  /** Further bytes followed the answer in the same read. */
  excess = false;
  /** Of a complete answer: how long the server keeps the connection, as far as known; 0 if it must not be reused. */
  keepsSeconds = 0;
  /** Larger bodies are rejected. */
  #bodyBytesMax = 0;
  readonly #head = new ResponseHeadParser();
  readonly #chunks = new ChunkedBodyParser();
  #reading: Reading = 'open';
  #phase = HEAD;
  #interims = 0;
  #body: Buffer = NOTHING;
  #bodyBytes = 0;

  /** `id` is that of the request, empty for none; `strict` rejects an answer with another id. */
  begin(bodyBytesMax: number, id = '', strict = false): void {
    this.#bodyBytesMax = bodyBytesMax;
    this.#head.expectedId = id;
    this.#head.strict = strict && id !== '';
    this.#head.begin();
    this.excess = false;
    this.keepsSeconds = 0;
    this.#reading = 'open';
    this.#phase = HEAD;
    this.#interims = 0;
    this.#body = NOTHING;
    this.#bodyBytes = 0;
  }

  /** Continues parsing until the answer is complete or unusable. The bytes may be overwritten afterwards. */
  read(bytes: Buffer, length = bytes.length): Reading {
    let at = 0;
    while (at < length && this.#reading === 'open') {
      if (this.#phase === HEAD) {
        at = this.#head.read(bytes, at, length);
        if (this.#head.reading === 'complete') this.#endHead();
        else this.#reading = this.#head.reading;
      } else if (this.#phase === LENGTH) {
        const taken = bytes.copy(this.#body, this.#bodyBytes, at, length);
        at += taken;
        this.#bodyBytes += taken;
        if (this.#bodyBytes === this.#body.length) this.#reading = 'complete';
      } else {
        at = this.#readUnsized(bytes, at, length);
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
    if (this.#reading === 'open') this.#reading = this.#phase === UNTIL_END ? 'complete' : 'malformed';
    return this.#reading;
  }

  /** Returns the complete answer, with its own copy of the body, and forgets it. */
  take(): EngineResponse {
    const body = this.#bodyBytes < this.#body.length ? this.#body.subarray(0, this.#bodyBytes) : this.#body;
    this.#body = NOTHING;
    this.#bodyBytes = 0;
    const { status, id, retryAfter } = this.#head;
    const echoedId = id === 'ours';
    return retryAfter === undefined ? { status, echoedId, body } : { status, echoedId, body, retryAfter };
  }

  #endHead(): void {
    const { status, old, contentLength, chunked, closes, keepsSeconds } = this.#head;
    const bodiless = status === 204 || status === 304;
    // Response smuggling: chunked with a length, or chunked in HTTP/1.0.
    if (chunked && (contentLength !== -1 || old)) {
      this.#reading = 'malformed';
    } else if (status < 200) {
      this.#endInterim(chunked || contentLength !== -1 || closes);
    } else {
      const lasting = !old && !closes && !(bodiless && (chunked || contentLength > 0));
      this.keepsSeconds = lasting ? keepsSeconds : 0;
      if (bodiless || contentLength === 0) {
        this.#reading = 'complete';
      } else if (chunked) {
        this.#chunks.begin();
        this.#phase = CHUNKS;
      } else if (contentLength === -1) {
        this.#phase = UNTIL_END;
      } else if (contentLength > this.#bodyBytesMax) {
        this.#reading = 'too_large';
      } else {
        this.#body = Buffer.allocUnsafe(contentLength);
        this.#phase = LENGTH;
      }
    }
  }

  #endInterim(final: boolean): void {
    // We never request an upgrade (101), and an interim answer must neither have a body nor close the connection.
    if (this.#head.status === 101 || final || ++this.#interims > INTERIMS_MAX) this.#reading = 'malformed';
    else this.#head.begin();
  }

  /** Of a chunked body, its trailers, or a body that ends with the connection. */
  #readUnsized(bytes: Buffer, from: number, to: number): number {
    if (this.#phase === TRAILERS) {
      const at = this.#head.read(bytes, from, to);
      this.#reading = this.#head.reading;
      return at;
    }
    if (this.#phase === UNTIL_END) {
      if (this.#bodyBytes + to - from > this.#bodyBytesMax) this.#reading = 'too_large';
      else this.#append(bytes, from, to);
      return to;
    }
    if (!this.#chunks.inContent) return this.#readChunkLine(bytes, from, to);
    const end = Math.min(to, from + this.#chunks.contentLeft);
    this.#append(bytes, from, end);
    this.#chunks.took(end - from);
    return end;
  }

  #readChunkLine(bytes: Buffer, from: number, to: number): number {
    const at = this.#chunks.read(bytes, from, to, this.#bodyBytesMax - this.#bodyBytes);
    if (this.#chunks.reading === 'complete') {
      this.#head.begin(true);
      this.#phase = TRAILERS;
    } else {
      this.#reading = this.#chunks.reading;
    }
    return at;
  }

  #append(bytes: Buffer, from: number, to: number): void {
    const needed = this.#bodyBytes + to - from;
    if (needed > this.#body.length) {
      const room = Buffer.allocUnsafe(Math.max(needed, Math.min(2 * this.#body.length + ROOM_BYTES, this.#bodyBytesMax)));
      this.#body.copy(room, 0, 0, this.#bodyBytes);
      this.#body = room;
    }
    bytes.copy(this.#body, this.#bodyBytes, from, to);
    this.#bodyBytes = needed;
  }
}
