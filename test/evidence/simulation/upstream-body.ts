// A simulated upstream's streamed answer: piece by piece at its receiver's pace, to its end or to a failure in the middle.
import { Readable } from 'node:stream';
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

export class UpstreamBody extends Readable {
  readonly bytes: number | undefined;
  /** The whole length, announced or not. */
  readonly wholeBytes: number;
  readonly #world: World;
  readonly #process: Process;
  readonly #terms: UpstreamBodyTerms;
  /** Pieces that arrive before it dies. */
  readonly #lives: number;
  #told = 0;

  constructor(world: World, process: Process, terms: UpstreamBodyTerms) {
    super({ highWaterMark: 1 });
    const { random } = world;
    this.#world = world;
    this.#process = process;
    this.#terms = terms;
    this.wholeBytes = terms.sizes.reduce((total, size) => total + size, 0);
    this.bytes = this.wholeBytes === 0 || random.chance(0.5) ? this.wholeBytes : undefined;
    // Without an announced length all bytes may have arrived, and only the end is missing.
    const most = terms.sizes.length - (this.bytes === undefined ? 0 : 1);
    this.#lives = terms.dies ? random.int(0, most) : Infinity;
    // It may die before anybody reads it.
    this.on('error', () => undefined);
  }

  override _read(): void {
    const { random, scenario, time } = this.#world;
    const gapMs = Math.min(GAP_MS_MAX, random.pick([0, random.latencyMs(scenario.engineLatencyMs / 4)]));
    const silent = this.#told >= this.#lives && random.chance(0.3);
    time.after(this.#process, silent ? this.#terms.silenceMs : gapMs, () => {
      if (!this.destroyed) this.#next();
    });
  }

  /** Dies, or has taken too long. Does nothing after the end. */
  fail(): void {
    this.destroy(new Error('the upstream died'));
  }

  #next(): void {
    if (this.#told >= this.#lives) return this.fail();
    const size = this.#terms.sizes[this.#told];
    this.#told++;
    this.push(size === undefined ? null : new Uint8Array(size));
  }
}
