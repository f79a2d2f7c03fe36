// Collects a body up to a limit, and counts what is dropped beyond it.
import type { Body } from '../core/exchange.ts';

/** So many times the limit is read and dropped before the connection is cut: most callers read the refusal only when they have sent all. */
export const DROP_FACTOR = 8;

/** A smaller allocation is cheap, and does not hasten the next garbage collection. */
const SPARE_BYTES_MIN = 65_536;

/**
 * Room for one body, used again: what comes of a long body before its caller turns out to be too fast is dropped unread, and
 * a megabyte allocated for each would have the process do little but collect garbage.
 */
export class SpareRoom {
  #spare: Buffer | undefined = undefined;
  /** What was made here: other memory is not ours to use again. */
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

  /** All or a part of what was taken; nobody may look at it any more. */
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
  #length = 0;
  #discarding: boolean;

  /** `announcedBytes` is 0 when unknown: a body that is announced too long is not kept at all. */
  constructor(bytesMax: number, announcedBytes: number, spare?: SpareRoom) {
    this.#bytesMax = bytesMax;
    this.#spare = spare;
    this.#announcedBytes = announcedBytes;
    this.#discarding = announcedBytes > bytesMax;
  }

  /** The body is not needed: from now on only its length is counted. */
  discard(): void {
    this.#discarding = true;
    const bytes = this.#bytes;
    this.#bytes = undefined;
    if (bytes !== undefined) this.#spare?.give(bytes);
  }

  /** More than `DROP_FACTOR` times the limit has come: the connection is given up. */
  get exhausted(): boolean {
    return this.#length > this.#bytesMax * DROP_FACTOR;
  }

  /** `borrowed`: the memory is the library's and gone when this returns. */
  add(chunk: Uint8Array, borrowed: boolean): void {
    const start = this.#length;
    this.#length += chunk.byteLength;
    if (this.#length > this.#bytesMax) this.discard();
    if (this.#discarding || chunk.byteLength === 0) return;
    if (this.#bytes === undefined && chunk.byteLength >= this.#announcedBytes) {
      // The whole of it, as nearly always. `Buffer.from` takes short ones from Node's pool: an allocation for each body would cost more than the copy.
      this.#bytes = borrowed ? Buffer.from(chunk) : chunk;
      return;
    }
    this.#room(start).set(chunk, start);
  }

  /** The complete body, or what to say of it. Call once, when the last chunk has come. */
  take(): Body {
    if (this.#length > this.#bytesMax) return 'too_large';
    if (this.#bytes === undefined) return 'none';
    return this.#bytes.byteLength === this.#length ? this.#bytes : this.#bytes.subarray(0, this.#length);
  }

  /**
   * Grows by doubling: few allocations however small the chunks are, and at most twice what has come, whatever was announced.
   * Not filled with zeros, which for a large body costs as much as the copy.
   */
  #room(kept: number): Uint8Array {
    const bytes = this.#bytes;
    if (bytes !== undefined && bytes.byteLength >= this.#length) return bytes;
    const enough = this.#announcedBytes >= this.#length ? this.#announcedBytes : this.#bytesMax;
    const wanted = Math.max(this.#length, Math.min(enough, this.#length * 2));
    const grown = this.#spare === undefined ? Buffer.allocUnsafeSlow(wanted) : this.#spare.take(wanted);
    if (bytes !== undefined) grown.set(bytes.subarray(0, kept));
    this.#bytes = grown;
    return grown;
  }
}
