// Endless bytes for streamed answers: made as they are read, and counted.
import type { ByteReceiver, ByteSource } from '../../../src/core/byte-stream.ts';

/** All bytes made so far: fewer than announced if the rest was not read. */
export let madeBytes = 0;
/** The number of sources that were not read to their ends. */
export let cancelled = 0;

/** Byte `i` of any flow. */
function byteAt(index: number): number {
  return (index * 7 + (index >> 8)) & 0xff;
}

export function piece(from: number, length: number): Uint8Array {
  const bytes = Buffer.allocUnsafe(length);
  for (let i = 0; i < length; i++) bytes[i] = byteAt(from + i);
  return bytes;
}

/** `BYTES,sized|chunked,end|fail,PIECE`. */
export function flowOf(query: string): ByteSource {
  const [bytes = '0', framing = 'sized', end = 'end', size = '65536'] = query.split(',');
  return new Flow(Number(bytes), framing === 'sized', end === 'end', Number(size));
}

class Flow implements ByteSource {
  readonly bytes: number | undefined;
  readonly #until: number;
  readonly #ends: boolean;
  readonly #pieceBytes: number;
  #at = 0;
  #paused = false;
  #over = false;
  #running = false;
  #receiver: ByteReceiver | undefined = undefined;

  constructor(until: number, sized: boolean, ends: boolean, pieceBytes: number) {
    // One that fails has announced more.
    this.bytes = sized ? until + (ends ? 0 : 1000) : undefined;
    this.#until = until;
    this.#ends = ends;
    this.#pieceBytes = pieceBytes;
  }

  open(receiver: ByteReceiver): void {
    this.#receiver = receiver;
    this.#run();
  }

  pause(): void {
    this.#paused = true;
  }

  resume(): void {
    this.#paused = false;
    this.#run();
  }

  cancel(): void {
    if (this.#over) return;
    this.#over = true;
    cancelled++;
  }

  /** One piece per turn, like a connection. */
  #run(): void {
    if (this.#running || this.#paused || this.#over) return;
    this.#running = true;
    setImmediate(() => {
      this.#running = false;
      if (this.#paused || this.#over) return;
      const length = Math.min(this.#pieceBytes, this.#until - this.#at);
      if (length === 0) return this.#finish();
      this.#at += length;
      madeBytes += length;
      this.#receiver!.piece(piece(this.#at - length, length));
      this.#run();
    });
  }

  #finish(): void {
    this.#over = true;
    if (this.#ends) this.#receiver!.end();
    else this.#receiver!.fail('broken');
  }
}
