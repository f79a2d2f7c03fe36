// Parses the bytes of a connection into an HTTP/1.x answer: by RFC 9112, but stricter where that leaves two readings. Knows no sockets.
import type { EngineResponse } from '../../ports/engine.ts';
import { ChunkedBodyParser } from './response-chunks.ts';
import { ResponseHeadParser } from './response-head.ts';
import type { Reading } from './response-head.ts';

export type { Reading } from './response-head.ts';

/** Interim answers (1xx) before an answer. */
export const INTERIMS_MAX = 16;
/** Of a body whose length is not known before. */
const ROOM_BYTES = 4096;
const NOTHING = Buffer.alloc(0);

/** What comes next. */
const [HEAD, LENGTH, CHUNKS, TRAILERS, UNTIL_END] = [0, 1, 2, 3, 4];

/** Reads one answer after the other; `begin` before each. Equal bytes give equal results, in whatever pieces they come. */
export class ResponseParser {
  /** More than this is too large. */
  readonly #bodyBytesMax: number;
  readonly #head = new ResponseHeadParser();
  readonly #chunks = new ChunkedBodyParser();
  #reading: Reading = 'open';
  #phase = HEAD;
  #interims = 0;
  #body: Buffer = NOTHING;
  #bodyBytes = 0;
  /** The connection can carry a further exchange, as far as the answer goes. */
  #lasting = true;
  /** An answer with another id is refused. */
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

  /** The request was sent with this id, empty for none: what an answer with another one comes to is up to `strict`. */
  expect(id: string, strict: boolean): void {
    this.#head.framing.expectedId = id;
    this.#strict = strict && id !== '';
  }

  /** Reads on, until the answer is complete or cannot be used. The bytes may be overwritten afterwards. */
  read(bytes: Buffer, length = bytes.length): Reading {
    let at = 0;
    while (at < length && this.#reading === 'open') at = this.#step(bytes, at, length);
    // More bytes than the answer: the next caller must not get them.
    if (at < length) {
      this.#lasting = false;
      this.#excess = true;
    }
    return this.#reading;
  }

  /** Bytes followed the answer in the same piece. */
  get excess(): boolean {
    return this.#excess;
  }

  /** The server has ended the connection: that completes an answer that has no other end. */
  end(): Reading {
    this.#lasting = false;
    if (this.#reading === 'open') this.#reading = this.#phase === UNTIL_END ? 'complete' : 'malformed';
    return this.#reading;
  }

  /** For how long the server keeps the connection for a next exchange, as far as one knows; 0 when it must not be used again. */
  get keepsSeconds(): number {
    return this.#lasting ? this.#head.framing.keepsSeconds : 0;
  }

  /** Hands over the complete answer, with a body of its own, and forgets it. */
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
    // Before its body comes, and before an interim answer is passed over.
    if (this.#foreign) this.#reading = 'foreign';
    // Response smuggling: a chunked answer with a length, or a chunked one in HTTP/1.0.
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
    // We never ask for an upgrade (101); and an interim answer must have no body and must not end the connection.
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
