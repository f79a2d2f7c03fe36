// A simulated upstream's streamed answer: piece by piece at its receiver's pace, to its end or to a failure in the middle.
import type { ByteReceiver, ByteSource } from '../../../src/core/byte-stream.ts';
import type { Process } from './virtual-time.ts';
import type { World } from './world.ts';

interface UpstreamBodyTerms {
  /** Bytes of each piece. */
  readonly sizes: readonly number[];
  /** Breaks off, or falls silent for ever, before its end. */
  readonly dies: boolean;
  readonly silenceMs: number;
}

/** Between two pieces, at most. */
const GAP_MS_MAX = 200;

export class UpstreamBody implements ByteSource {
  readonly bytes: number | undefined;
  /** The whole length, announced or not. */
  readonly wholeBytes: number;
  readonly #world: World;
  readonly #process: Process;
  readonly #terms: UpstreamBodyTerms;
  /** Pieces that arrive before it dies. */
  readonly #lives: number;
  #told = 0;
  #receiver: ByteReceiver | undefined = undefined;
  #paused = false;
  #over = false;
  /** A next event is scheduled. */
  #coming = false;

  constructor(world: World, process: Process, terms: UpstreamBodyTerms) {
    const { random } = world;
    this.#world = world;
    this.#process = process;
    this.#terms = terms;
    this.wholeBytes = terms.sizes.reduce((total, size) => total + size, 0);
    this.bytes = this.wholeBytes === 0 || random.chance(0.5) ? this.wholeBytes : undefined;
    // Without an announced length all bytes may have arrived, and only the end is missing.
    const most = terms.sizes.length - (this.bytes === undefined ? 0 : 1);
    this.#lives = terms.dies ? random.int(0, most) : Infinity;
  }

  open(receiver: ByteReceiver): void {
    this.#receiver = receiver;
    if (this.#over) this.#tellFailure(receiver);
    else this.#goOn();
  }

  pause(): void {
    this.#paused = true;
  }

  resume(): void {
    this.#paused = false;
    this.#goOn();
  }

  cancel(): void {
    this.#over = true;
  }

  /** Dies, or has taken too long. Does nothing after the end. */
  fail(): void {
    if (this.#over) return;
    this.#over = true;
    // One that has not been opened yet reports it then.
    if (this.#receiver !== undefined) this.#tellFailure(this.#receiver);
  }

  /** In a later turn: the caller of `open` expects no event before it returns. */
  #tellFailure(receiver: ByteReceiver): void {
    this.#world.time.after(this.#process, 0, () => receiver.fail('broken'));
  }

  #goOn(): void {
    if (this.#coming || this.#over) return;
    this.#coming = true;
    const { random, scenario, time } = this.#world;
    const gapMs = Math.min(GAP_MS_MAX, random.pick([0, random.latencyMs(scenario.engineLatencyMs / 4)]));
    const silent = this.#told >= this.#lives && random.chance(0.3);
    time.after(this.#process, silent ? this.#terms.silenceMs : gapMs, () => {
      this.#coming = false;
      if (!this.#over && (!this.#paused || silent)) this.#next();
    });
  }

  #next(): void {
    if (this.#told >= this.#lives) return this.fail();
    const size = this.#terms.sizes[this.#told];
    if (size === undefined) {
      this.#over = true;
      this.#receiver?.end();
      return;
    }
    this.#told++;
    this.#receiver?.piece(new Uint8Array(size));
    if (!this.#paused) this.#goOn();
  }
}
