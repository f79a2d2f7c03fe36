// Virtual time: a queue of events instead of an event loop, in which every simulated process has its own timers and clocks.
import { EventQueue } from './event-queue.ts';
import type { Event } from './event-queue.ts';

/** Something that can die, freeze, and have a wrong clock. */
export interface Process {
  readonly name: string;
  alive: boolean;
  /** Nothing of it runs before that moment. */
  frozenUntilMs: number;
  /** How far its wall clock is off. */
  clockOffByMs: number;
  /** Its timers that would keep it running. */
  timers: number;
}

// The real ones, whatever a run replaces them with.
const realImmediate = globalThis.setImmediate;

export class VirtualTime {
  readonly #queue = new EventQueue();
  #nowMs = 0;
  #current: Process;
  readonly #beginningMs: number;
  readonly world: Process;

  /** `beginningMs`: where virtual time begins, for wall clocks. */
  constructor(beginningMs: number) {
    this.#beginningMs = beginningMs;
    this.world = newProcess('world');
    this.#current = this.world;
  }

  /** Milliseconds since the run began; no process can know this. */
  get nowMs(): number {
    return this.#nowMs;
  }

  /** The process whose code is running. */
  get current(): Process {
    return this.#current;
  }

  wallMs(process: Process): number {
    return this.#beginningMs + Math.floor(this.#nowMs + process.clockOffByMs);
  }

  /** Runs `run` as `process`, unless that has died by then. */
  after(process: Process, delayMs: number, run: () => void): Event {
    const event = { atMs: this.#nowMs + Math.max(0, delayMs), order: 0, process, run, cancelled: false, done: false };
    this.#queue.add(event);
    return event;
  }

  /** Runs it now, as `process`: its timers are that process's own, and die with it. */
  as<T>(process: Process, run: () => T): T {
    const before = this.#current;
    this.#current = process;
    try {
      return run();
    } finally {
      this.#current = before;
    }
  }

  cancel(event: Event): void {
    if (event.cancelled || event.done) return;
    event.cancelled = true;
  }

  /** Runs everything up to a moment. Between two events all promises are settled, as between two turns of an event loop. */
  async runUntil(endMs: number, stop: () => boolean): Promise<void> {
    for (;;) {
      const next = this.#queue.first;
      if (stop()) return;
      if (next === undefined || next.atMs > endMs) break;
      this.#queue.takeFirst();
      if (next.cancelled) continue;
      this.#nowMs = Math.max(this.#nowMs, next.atMs);
      if (next.process.alive && next.process.frozenUntilMs > this.#nowMs) {
        next.atMs = next.process.frozenUntilMs;
        this.#queue.addAgain(next);
        continue;
      }
      next.done = true;
      if (!next.process.alive) continue;
      this.#current = next.process;
      next.run();
      await new Promise<void>((resolve) => realImmediate(resolve));
      this.#current = this.world;
    }
    if (endMs < Infinity) this.#nowMs = Math.max(this.#nowMs, endMs);
  }
}

export function newProcess(name: string, clockOffByMs = 0): Process {
  return { name, alive: true, frozenUntilMs: 0, clockOffByMs, timers: 0 };
}
