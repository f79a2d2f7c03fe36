// Collects a body up to a limit, and counts what is dropped beyond it.
import type { Body } from '../core/exchange.ts';

/** So many times the limit is read and dropped before the connection is cut: most callers read the refusal only when they have sent all. */
export const DROP_FACTOR = 8;

export class BodyCollector {
  readonly #bytesMax: number;
  #bytes: Uint8Array | undefined = undefined;
  #length = 0;
  #discarding: boolean;

  /** `announcedBytes` is 0 when unknown: a body that is announced too long is not kept at all. */
  constructor(bytesMax: number, announcedBytes: number) {
    this.#bytesMax = bytesMax;
    this.#discarding = announcedBytes > bytesMax;
  }

  /** The body is not needed: from now on only its length is counted. */
  discard(): void {
    this.#discarding = true;
    this.#bytes = undefined;
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
    if (this.#bytes === undefined) {
      // `Buffer.from` takes short ones from Node's pool: an allocation for each body would cost more than the copy.
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

  /** Grows by doubling: few allocations however small the chunks are, and at most twice what has come, whatever was announced. */
  #room(kept: number): Uint8Array {
    const bytes = this.#bytes!;
    if (bytes.byteLength >= this.#length) return bytes;
    const grown = new Uint8Array(Math.max(this.#length, Math.min(this.#bytesMax, bytes.byteLength * 2)));
    grown.set(bytes.subarray(0, kept));
    this.#bytes = grown;
    return grown;
  }
}
