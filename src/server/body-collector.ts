// Collects a body up to a limit, and counts the bytes dropped beyond it.
import type { Body } from '../core/exchange.ts';

/**
 * How many times the limit is read and dropped before the connection is cut: most callers read a refusal only after sending
 * everything.
 */
export const DROP_FACTOR = 8;

/** Smaller allocations are cheap and do not hasten the next garbage collection. */
const SPARE_BYTES_MIN = 65_536;

/**
 * A reusable buffer for one body. Long bodies of callers who turn out to be throttled are dropped unread; allocating a megabyte
 * for each would keep the process busy with garbage collection.
 */
export class SpareRoom {
  #spare: Buffer | undefined = undefined;
  /** Memory allocated here; no other memory may be reused. */
  readonly #made = new WeakSet<ArrayBufferLike>();

  take(bytes: number): Buffer {
    const spare = this.#spare;
    if (bytes < SPARE_BYTES_MIN) return Buffer.allocUnsafeSlow(bytes);
    if (spare !== undefined && spare.byteLength >= bytes) {
      this.#spare = undefined;
      return spare;
    }
    const made = Buffer.allocUnsafeSlow(bytes);
    this.#made.add(made.buffer);
    return made;
  }

  /** Returns all or part of a buffer that nobody uses any more. */
  give({ buffer }: Uint8Array): void {
    if (!this.#made.has(buffer)) return;
    if (this.#spare === undefined || this.#spare.byteLength < buffer.byteLength) this.#spare = Buffer.from(buffer);
  }
}

export class BodyCollector {
  readonly #bytesMax: number;
  readonly #announcedBytes: number;
  readonly #spare: SpareRoom | undefined;
  #bytes: Uint8Array | undefined = undefined;
  /** Bytes received so far, kept or not. To be read only. */
  length = 0;
  #discarding: boolean;

  /** `announcedBytes` is 0 if unknown. A body announced as too long is not kept at all. */
  constructor(bytesMax: number, announcedBytes: number, spare?: SpareRoom) {
    this.#bytesMax = bytesMax;
    this.#spare = spare;
    this.#announcedBytes = announcedBytes;
    this.#discarding = announcedBytes > bytesMax;
  }

  /** The body is not needed: from now on its bytes are only counted. */
  discard(): void {
    this.#discarding = true;
    const bytes = this.#bytes;
    this.#bytes = undefined;
    if (bytes !== undefined) this.#spare?.give(bytes);
  }

  /** `borrowed` memory belongs to the library and is only valid during the call. */
  add(chunk: Uint8Array, borrowed: boolean): void {
    const start = this.length;
    this.length += chunk.byteLength;
    if (this.length > this.#bytesMax) this.discard();
    if (this.#discarding || chunk.byteLength === 0) return;
    if (this.#bytes === undefined && chunk.byteLength >= this.#announcedBytes) {
      // A single chunk, as nearly always. `Buffer.from` takes short ones from Node's pool; allocating for each body would cost
      // more than the copy.
      this.#bytes = borrowed ? Buffer.from(chunk) : chunk;
      return;
    }
    this.#room(start).set(chunk, start);
  }

  /** The complete body, or why there is none. Call it once, after the last chunk. */
  take(): Body {
    if (this.length > this.#bytesMax) return 'too_large';
    if (this.#bytes === undefined) return 'none';
    return this.#bytes.byteLength === this.length ? this.#bytes : this.#bytes.subarray(0, this.length);
  }

  /**
   * Grows by doubling: few allocations however small the chunks, and at most twice what has arrived, whatever was announced.
   * Not zero-filled, which for a large body would cost as much as the copy.
   */
  #room(kept: number): Uint8Array {
    const bytes = this.#bytes;
    if (bytes !== undefined && bytes.byteLength >= this.length) return bytes;
    const enough = this.#announcedBytes >= this.length ? this.#announcedBytes : this.#bytesMax;
    const wanted = Math.max(this.length, Math.min(enough, this.length * 2));
    const grown = this.#spare === undefined ? Buffer.allocUnsafeSlow(wanted) : this.#spare.take(wanted);
    if (bytes !== undefined) grown.set(bytes.subarray(0, kept));
    this.#bytes = grown;
    return grown;
  }
}
