// Replaces Node's timers and clocks with virtual time during a run, for our code and libraries alike.
import type { Event } from './event-queue.ts';
import type { Random } from './random.ts';
import type { Process, VirtualTime } from './virtual-time.ts';

/** How long every process has been up when a run begins: no real monotonic clock starts at 0. */
const STARTED_MS = 1000;

/**
 * The product takes no parameter for this: it calls what every Node program calls, and so do the libraries below it.
 * Everything that asks for time or randomness during a run gets it from the run.
 */
export function borrowGlobals(time: VirtualTime, random: Random): () => void {
  const kept = Object.entries(replacements(time)).map(([name, value]) => replace(globalThis, name, value));
  kept.push(replace(Date, 'now', () => time.wallMs(time.current)));
  kept.push(replace(performance, 'now', () => STARTED_MS + time.nowMs));
  kept.push(replace(Math, 'random', () => random.next()));
  return () => {
    for (const putBack of kept.toReversed()) putBack();
  };
}

type Callback = (...args: readonly unknown[]) => void;

function replacements(time: VirtualTime): Record<string, unknown> {
  const clear = (timer: unknown): void => {
    if (timer instanceof VirtualTimer) timer.close();
  };
  return {
    setTimeout: (run: Callback, delayMs?: number, ...args: unknown[]) =>
      new VirtualTimer(time, () => run(...args), atLeastOne(delayMs), false),
    setInterval: (run: Callback, delayMs?: number, ...args: unknown[]) =>
      new VirtualTimer(time, () => run(...args), atLeastOne(delayMs), true),
    setImmediate: (run: Callback, ...args: unknown[]) => new VirtualTimer(time, () => run(...args), 0, false),
    clearTimeout: clear,
    clearInterval: clear,
    clearImmediate: clear,
  };
}

/** As Node does. */
function atLeastOne(delayMs: number | undefined): number {
  return delayMs !== undefined && delayMs >= 1 ? delayMs : 1;
}

class VirtualTimer {
  readonly #time: VirtualTime;
  readonly #process: Process;
  readonly #run: () => void;
  readonly #delayMs: number;
  readonly #repeats: boolean;
  #event: Event;
  /** Counted among those that keep the process running. */
  #holds = true;

  constructor(time: VirtualTime, run: () => void, delayMs: number, repeats: boolean) {
    this.#time = time;
    this.#process = time.current;
    this.#run = run;
    this.#delayMs = delayMs;
    this.#repeats = repeats;
    this.#process.timers++;
    this.#event = this.#arm();
  }

  close(): this {
    this.#time.cancel(this.#event);
    return this.unref();
  }

  /** Restarts it, even if it has fired. */
  refresh(): this {
    this.#time.cancel(this.#event);
    if (!this.#holds) this.#process.timers++;
    this.#holds = true;
    this.#event = this.#arm();
    return this;
  }

  ref(): this {
    return this;
  }

  unref(): this {
    if (this.#holds) this.#process.timers--;
    this.#holds = false;
    return this;
  }

  #arm(): Event {
    return this.#time.after(this.#process, this.#delayMs, () => {
      if (this.#repeats) this.#event = this.#arm();
      else this.unref();
      this.#run();
    });
  }
}

function replace(holder: object, name: string, value: unknown): () => void {
  const before = Object.getOwnPropertyDescriptor(holder, name);
  Object.defineProperty(holder, name, { value, configurable: true, writable: true, enumerable: before?.enumerable ?? false });
  return () => {
    if (before === undefined) Reflect.deleteProperty(holder, name);
    else Object.defineProperty(holder, name, before);
  };
}
