// The connection of a caller who reads a streamed answer in virtual time: at once or after a while, and its end last.
import { Writable } from 'node:stream';
import type { Process } from './virtual-time.ts';
import type { World } from './world.ts';

/** No pause of a reader is longer: every answer ends well before a run does. */
const PAUSE_MS_MAX = 200;

export class SimulatedWriter extends Writable {
  /** Written so far. */
  bytes = 0;
  readonly #world: World;
  readonly #process: Process;

  constructor(world: World, process: Process) {
    // Some take only one piece at a time.
    super({ highWaterMark: world.random.chance(0.5) ? 1 : 16_384 });
    this.#world = world;
    this.#process = process;
  }

  override _write(bytes: Uint8Array, _encoding: BufferEncoding, done: () => void): void {
    this.bytes += bytes.byteLength;
    if (this.#world.random.chance(0.3)) this.#later(done);
    else done();
  }

  override _final(done: () => void): void {
    this.#later(done);
  }

  #later(happen: () => void): void {
    const { random, time } = this.#world;
    const afterMs = Math.min(PAUSE_MS_MAX, random.pick([0, 0.2, random.latencyMs(30)]));
    time.after(this.#process, afterMs, happen);
  }
}
