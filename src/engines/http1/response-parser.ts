// Parses an HTTP/1.x answer from bytes: by RFC 9112, but stricter where it is ambiguous. Independent of sockets.
import type { EngineResponse } from '../../ports/engine.ts';
import { ChunkedBodyParser } from './response-chunks.ts';
import { ResponseHeadParser } from './response-head.ts';
import type { Reading } from './response-head.ts';

export type { Reading } from './response-head.ts';

/** Limit on interim answers (1xx) before the final one. */
export const INTERIMS_MAX = 16;
/** Initial size for a body of unknown length. */
const ROOM_BYTES = 4096;
const NOTHING = Buffer.alloc(0);

/** The current section. */
const [HEAD, LENGTH, CHUNKS, TRAILERS, UNTIL_END] = [0, 1, 2, 3, 4];

/** Parses one answer after another; call `begin` before each. The result does not depend on how the bytes are split. */
export class ResponseParser {
  /** Larger bodies are rejected. */
  readonly #bodyBytesMax: number;
  readonly #head = new ResponseHeadParser();
  readonly #chunks = new ChunkedBodyParser();
  #reading: Reading = 'open';
  #phase = HEAD;
  #interims = 0;
  #body: Buffer = NOTHING;
  #bodyBytes = 0;
  /** Whether the answer permits another exchange on the connection. */
  #lasting = true;
  /** Reject an answer with a foreign id. */
  #strict = false;
  #excess = false;

  constructor(bodyBytesMax: number) {
    this.#bodyBytesMax = bodyBytesMax;
  }

  begin(): void {
    this.#head.begin();
    this.#reading = 'open';
    this.#phase = HEAD;
    this.#interims = 0;
    this.#body = NOTHING;
    this.#bodyBytes = 0;
    this.#lasting = true;
    this.#excess = false;
  }

  /** Sets the id of the request, empty for none. `strict` rejects an answer with another id. */
  expect(id: string, strict: boolean): void {
    this.#head.framing.expectedId = id;
    this.#strict = strict && id !== '';
  }

  /** Continues parsing until the answer is complete or unusable. The bytes may be overwritten afterwards. */
  read(bytes: Buffer, length = bytes.length): Reading {
    let at = 0;
    while (at < length && this.#reading === 'open') at = this.#step(bytes, at, length);
    // Bytes after the answer must not reach the next caller.
    if (at < length) {
      this.#lasting = false;
      this.#excess = true;
    }
    return this.#reading;
  }

  /** Whether further bytes followed the answer in the same read. */
  get excess(): boolean {
    return this.#excess;
  }

  /** The server closed the connection, which completes an answer without a length. */
  end(): Reading {
    this.#lasting = false;
    if (this.#reading === 'open') this.#reading = this.#phase === UNTIL_END ? 'complete' : 'malformed';
    return this.#reading;
  }

  /** How long the server keeps the connection, as far as known; 0 if it must not be reused. */
  get keepsSeconds(): number {
    return this.#lasting ? this.#head.framing.keepsSeconds : 0;
  }

  /** Returns the complete answer, with its own copy of the body, and forgets it. */
  take(): EngineResponse {
    const body = this.#bodyBytes < this.#body.length ? this.#body.subarray(0, this.#bodyBytes) : this.#body;
    this.#body = NOTHING;
    this.#bodyBytes = 0;
    const { status, framing } = this.#head;
    const echoedId = framing.id === 'ours';
    return framing.retryAfter === undefined ? { status, echoedId, body } : { status, echoedId, body, retryAfter: framing.retryAfter };
  }

  #step(bytes: Buffer, from: number, to: number): number {
    if (this.#phase === HEAD) {
      const at = this.#head.read(bytes, from, to);
      if (this.#head.reading === 'complete') this.#endHead();
      else this.#reading = this.#head.reading;
      return at;
    }
    if (this.#phase === TRAILERS) {
      const at = this.#head.read(bytes, from, to);
      this.#reading = this.#head.reading === 'complete' && this.#foreign ? 'foreign' : this.#head.reading;
      return at;
    }
    if (this.#phase === CHUNKS) return this.#chunks.inContent ? this.#readChunk(bytes, from, to) : this.#readChunkLine(bytes, from, to);
    return this.#phase === LENGTH ? this.#readLength(bytes, from, to) : this.#readUntilEnd(bytes, from, to);
  }

  #endHead(): void {
    const { status, old } = this.#head;
    const { contentLength, chunked, closes } = this.#head.framing;
    // Checked before the body arrives, and before an interim answer is skipped.
    if (this.#foreign) this.#reading = 'foreign';
    // Response smuggling: chunked with a length, or chunked in HTTP/1.0.
    else if (chunked && (contentLength !== -1 || old)) this.#reading = 'malformed';
    else if (status < 200) this.#endInterim(chunked || contentLength !== -1 || closes);
    else if (status === 204 || status === 304) this.#complete(!old && !closes && !chunked && contentLength <= 0);
    else if (chunked) this.#expectChunks(!closes);
    else if (contentLength === -1) this.#phase = UNTIL_END;
    else if (contentLength === 0) this.#complete(!old && !closes);
    else this.#expectLength(contentLength, !old && !closes);
  }

  get #foreign(): boolean {
    return this.#strict && this.#head.framing.id === 'foreign';
  }

  #endInterim(final: boolean): void {
    // We never request an upgrade (101), and an interim answer must neither have a body nor close the connection.
    if (this.#head.status === 101 || final || ++this.#interims > INTERIMS_MAX) this.#reading = 'malformed';
    else this.#head.begin();
  }

  #complete(lasting: boolean): void {
    this.#lasting = lasting;
    this.#reading = 'complete';
  }

  #expectChunks(lasting: boolean): void {
    this.#lasting = lasting;
    this.#chunks.begin();
    this.#phase = CHUNKS;
  }

  #expectLength(length: number, lasting: boolean): void {
    this.#lasting = lasting;
    if (length > this.#bodyBytesMax) {
      this.#reading = 'too_large';
      return;
    }
    this.#body = Buffer.allocUnsafe(length);
    this.#phase = LENGTH;
  }

  #readLength(bytes: Buffer, from: number, to: number): number {
    const taken = bytes.copy(this.#body, this.#bodyBytes, from, to);
    this.#bodyBytes += taken;
    if (this.#bodyBytes === this.#body.length) this.#reading = 'complete';
    return from + taken;
  }

  #readChunkLine(bytes: Buffer, from: number, to: number): number {
    const at = this.#chunks.read(bytes, from, to, this.#bodyBytesMax - this.#bodyBytes);
    if (this.#chunks.reading === 'complete') {
      this.#head.beginTrailers();
      this.#phase = TRAILERS;
    } else {
      this.#reading = this.#chunks.reading;
    }
    return at;
  }

  #readChunk(bytes: Buffer, from: number, to: number): number {
    const end = Math.min(to, from + this.#chunks.contentLeft);
    this.#append(bytes, from, end);
    this.#chunks.took(end - from);
    return end;
  }

  #readUntilEnd(bytes: Buffer, from: number, to: number): number {
    if (this.#bodyBytes + to - from > this.#bodyBytesMax) this.#reading = 'too_large';
    else this.#append(bytes, from, to);
    return to;
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
