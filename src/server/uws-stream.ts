// Writes a streamed answer on uWebSockets.js, which reports little about how much a caller has read.
import type { StreamWriter, WriterEvents } from './streamed-answer.ts';
import type { HttpResponse } from './uws-build.ts';

/** Starts the answer: status and fields. Called within the cork that writes the first bytes, or the closing `end`. */
type WriteHead = (andEnds: boolean) => void;

/** The library cuts a caller off ten seconds after a write that could not be sent; retrying restarts the ten seconds. */
const RETRY_MS = 4_000;

/** For a known length: unsent bytes are kept here, and the library reports when it can continue. */
export class SizedUwsStream implements StreamWriter {
  readonly #res: HttpResponse;
  readonly #events: WriterEvents;
  readonly #bytes: number;
  #head: WriteHead | undefined;
  #written = 0;
  #watched = false;
  #rest: Uint8Array | undefined = undefined;
  #retry: NodeJS.Timeout | undefined = undefined;
  #stopped = false;

  constructor(res: HttpResponse, events: WriterEvents, head: WriteHead, bytes: number) {
    this.#res = res;
    this.#events = events;
    this.#head = head;
    this.#bytes = bytes;
  }

  put(bytes: Uint8Array): boolean {
    const done = this.#try(bytes);
    if (done) this.stop();
    if (done) this.#events.delivered();
    return done || this.#rest === undefined;
  }

  /** By now all announced bytes have been put, so the library has already ended the answer. */
  finish(): void {
    if (!this.#stopped) throw new Error('fewer bytes came than were announced');
  }

  cut(): void {
    this.#res.close();
  }

  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#retry);
  }

  /** Returns whether the answer is complete. */
  #try(bytes: Uint8Array): boolean {
    let complete = false;
    this.#res.cork(() => {
      this.#head?.(false);
      this.#head = undefined;
      const [ok, done] = this.#res.tryEnd(bytes, this.#bytes);
      complete = done;
      if (done) return;
      this.#watch();
      const written = ok ? this.#written + bytes.byteLength : this.#res.getWriteOffset();
      this.#rest = ok ? undefined : bytes.subarray(written - this.#written);
      this.#written = written;
    });
    clearTimeout(this.#retry);
    if (this.#rest !== undefined && !complete) this.#retry = setTimeout(() => this.#goOn(), RETRY_MS);
    return complete;
  }

  /** Not for an answer that is written at once, as most short ones are. */
  #watch(): void {
    if (this.#watched) return;
    this.#watched = true;
    this.#res.onWritable(() => {
      this.#goOn();
      return true;
    });
  }

  #goOn(): void {
    const rest = this.#rest;
    if (rest === undefined || this.#stopped) return;
    try {
      if (this.put(rest) && !this.#stopped) this.#events.writable();
    } catch (error) {
      this.#events.failed(error);
    }
  }
}

/** How many bytes of a chunk are held back: only further writes reveal whether the caller has read. */
const TAIL_BYTES = 64;
const PROBE_FIRST_MS = 1;
/** How much is accepted in one-byte chunks, which leave no tail, while the library has unread bytes. */
const BLIND_BYTES_MAX = 65_536;

/**
 * A closing `end` would write `Connection: close` into the chunks. So the last chunk is written like a header field, with the
 * one field that this requires in the trailer. The library does not know that the answer has ended, and closes the connection
 * itself if anything more arrives.
 */
const LAST_CHUNK = '\r\n0\r\nEnd';
/** How long a caller has to close the connection. */
const CLOSE_MS = 1_000;

/**
 * For an unknown length: chunked. The library buffers what it cannot write. Meanwhile, single bytes are written to find out
 * when its buffer is empty: with an `onWritable` listener, the library would not send its buffer before the next write.
 */
export class ChunkedUwsStream implements StreamWriter {
  readonly #res: HttpResponse;
  readonly #events: WriterEvents;
  readonly #closes: boolean;
  #head: WriteHead | undefined;
  #tail: Uint8Array = NOTHING;
  #blindBytes = 0;
  #probe: NodeJS.Timeout | undefined = undefined;

  constructor(res: HttpResponse, events: WriterEvents, head: WriteHead, closes: boolean) {
    this.#res = res;
    this.#events = events;
    this.#head = head;
    this.#closes = closes;
  }

  put(bytes: Uint8Array): boolean {
    const at = Math.max(1, bytes.byteLength - TAIL_BYTES);
    const tail = bytes.subarray(at);
    if (this.#write(bytes.subarray(0, at))) {
      this.#blindBytes = 0;
      if (tail.byteLength > 0) this.#write(tail);
      return true;
    }
    if (tail.byteLength === 0 && (this.#blindBytes += bytes.byteLength) <= BLIND_BYTES_MAX) return true;
    this.#tail = tail;
    this.#ask(PROBE_FIRST_MS);
    return false;
  }

  finish(): void {
    const begun = this.#head === undefined;
    this.#res.cork(() => {
      this.#head?.(this.#closes);
      if (begun && this.#closes) this.#res.writeHeader(LAST_CHUNK, '1\r\n');
      else this.#res.end('', this.#closes);
    });
    this.#events.delivered();
    if (begun && this.#closes) setTimeout(() => this.#close(), CLOSE_MS);
  }

  /** The caller may have closed it first, as `Connection: close` requested; then this throws. */
  #close(): void {
    try {
      this.#res.close();
    } catch {
      // Already closed.
    }
  }

  cut(): void {
    this.#res.close();
  }

  stop(): void {
    clearTimeout(this.#probe);
  }

  #write(bytes: Uint8Array): boolean {
    let ok = false;
    this.#res.cork(() => {
      this.#head?.(false);
      this.#head = undefined;
      ok = this.#res.write(bytes);
    });
    return ok;
  }

  #ask(afterMs: number): void {
    this.#probe = setTimeout(() => {
      try {
        this.#askNow(afterMs);
      } catch (error) {
        this.#events.failed(error);
      }
    }, afterMs);
  }

  #askNow(afterMs: number): void {
    // Each check writes one byte of the tail; when that is used up, the library's own timer cuts off a caller who does not
    // read.
    if (this.#tail.byteLength === 0) return;
    const ok = this.#write(this.#tail.subarray(0, 1));
    this.#tail = this.#tail.subarray(1);
    if (!ok) return this.#ask(Math.min(afterMs * 2, RETRY_MS));
    if (this.#tail.byteLength > 0) this.#write(this.#tail);
    this.#tail = NOTHING;
    this.#events.writable();
  }
}

const NOTHING = new Uint8Array(0);
