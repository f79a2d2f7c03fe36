// Writes a streamed answer to a caller who reads it in virtual time: at once or after a while, and its end last.
import type { StreamWriter, WriterEvents } from '../../../src/server/streamed-answer.ts';
import type { Process } from './virtual-time.ts';
import type { World } from './world.ts';

/** No pause of a reader is longer: every answer ends well before a run does. */
const PAUSE_MS_MAX = 200;

export class SimulatedWriter implements StreamWriter {
  /** Written so far. */
  bytes = 0;
  readonly #world: World;
  readonly #process: Process;
  readonly #events: WriterEvents;
  #full = false;
  #stopped = false;

  constructor(world: World, process: Process, events: WriterEvents) {
    this.#world = world;
    this.#process = process;
    this.#events = events;
  }

  put(bytes: Uint8Array): boolean {
    if (this.#full || this.#stopped) this.#world.violate('stream', `${bytes.byteLength} bytes were put where none are taken`);
    this.bytes += bytes.byteLength;
    this.#full = this.#world.random.chance(0.3);
    if (this.#full) {
      this.#later(() => {
        this.#full = false;
        this.#events.writable();
      });
    }
    return !this.#full;
  }

  finish(): void {
    this.#later(() => this.#events.delivered());
  }

  cut(): void {
    this.#stopped = true;
  }

  stop(): void {
    this.#stopped = true;
  }

  #later(happen: () => void): void {
    const { random, time } = this.#world;
    const afterMs = Math.min(PAUSE_MS_MAX, random.pick([0, 0.2, random.latencyMs(30)]));
    time.after(this.#process, afterMs, () => {
      if (!this.#stopped) happen();
    });
  }
}
