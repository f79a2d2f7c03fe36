// Splits long work into pieces: each turn of the event loop runs at most one piece, however much work there is.
import type { ByteReceiver, ByteSource } from './byte-stream.ts';
import { NO_HEADERS } from './outcome.ts';
import type { StreamReply } from './outcome.ts';
import { refuse } from './problem.ts';

/** In request order, so that several jobs make progress in parallel. */
const waiting: (() => void)[] = [];

/** Calls `piece` in a turn of the event loop in which no other piece runs. It must not throw. */
export function inOwnTurn(piece: () => void): void {
  waiting.push(piece);
  if (waiting.length === 1) setImmediate(run);
}

function run(): void {
  const piece = waiting.shift()!;
  if (waiting.length > 0) setImmediate(run);
  piece();
}

/** Await it between two pieces, each of about a millisecond at most. */
export function nextTurn(): Promise<void> {
  return new Promise(inOwnTurn);
}

/** Bytes that are generated piece by piece while they are read, each in a turn of its own. */
export class PacedBytes implements ByteSource {
  readonly bytes: number | undefined;
  readonly #pieces: Iterator<Uint8Array>;
  #receiver: ByteReceiver | undefined = undefined;
  #paused = false;
  #asked = false;

  /** `bytes` is the total length, if known. */
  constructor(pieces: Iterable<Uint8Array>, bytes?: number) {
    this.#pieces = pieces[Symbol.iterator]();
    this.bytes = bytes;
  }

  open(receiver: ByteReceiver): void {
    this.#receiver = receiver;
    this.#ask();
  }

  pause(): void {
    this.#paused = true;
  }

  resume(): void {
    this.#paused = false;
    this.#ask();
  }

  cancel(): void {
    this.#receiver = undefined;
  }

  #ask(): void {
    if (this.#asked || this.#paused || this.#receiver === undefined) return;
    this.#asked = true;
    inOwnTurn(this.#next);
  }

  readonly #next = (): void => {
    this.#asked = false;
    const receiver = this.#receiver;
    if (receiver === undefined || this.#paused) return;
    const piece = this.#piece();
    if (piece instanceof Uint8Array) {
      if (piece.length > 0) receiver.piece(piece);
      this.#ask();
      return;
    }
    this.#receiver = undefined;
    if (piece === 'end') receiver.end();
    else receiver.fail('broken');
  };

  /** A failing generator ends the answer: data in the store is corrupt. */
  #piece(): Uint8Array | 'end' | 'failed' {
    try {
      const next = this.#pieces.next();
      return next.done === true ? 'end' : next.value;
    } catch {
      return 'failed';
    }
  }
}

const BROKEN = refuse('internal_error', 'The answer could not be written.');

/** A 200 whose body is generated while it is read; `bytes` is its length, if known. */
export function pacedReply(contentType: string, pieces: Iterable<Uint8Array>, bytes?: number): StreamReply {
  return { kind: 'stream', status: 200, contentType, headers: NO_HEADERS, body: new PacedBytes(pieces, bytes), broken: BROKEN };
}
