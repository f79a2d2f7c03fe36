// Wakes the load in time for the next request. Node's own timers have millisecond resolution; this one sleeps in a thread.
import { readlinkSync, writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import { isMainThread, Worker, workerData } from 'node:worker_threads';

/** Shorter sleeps than this cost more than they are worth. */
const SLEEP_MS_MIN = 0.05;

interface Beat {
  readonly shared: SharedArrayBuffer;
  readonly intervalMs: number;
}

/** Calls back about every `intervalMs` until stopped. */
export class Metronome {
  readonly #worker: Worker;
  readonly #beats: Int32Array<SharedArrayBuffer>;
  readonly #onBeat: () => void;
  #stopped = false;

  constructor(intervalMs: number, onBeat: () => void) {
    const shared = new SharedArrayBuffer(8);
    this.#beats = new Int32Array(shared);
    this.#onBeat = onBeat;
    this.#worker = new Worker(new URL(import.meta.url), { workerData: { shared, intervalMs } satisfies Beat });
    void this.#listen();
  }

  async #listen(): Promise<void> {
    while (!this.#stopped) {
      const seen = Atomics.load(this.#beats, 0);
      const waiting = Atomics.waitAsync(this.#beats, 0, seen);
      this.#onBeat();
      if (waiting.async) await waiting.value;
    }
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    Atomics.store(this.#beats, 1, 1);
    await this.#worker.terminate();
  }
}

if (!isMainThread && isBeat(workerData)) beat(workerData);

function isBeat(data: unknown): data is Beat {
  return typeof data === 'object' && data !== null && 'intervalMs' in data;
}

function beat({ shared, intervalMs }: Beat): void {
  const beats = new Int32Array(shared);
  const never = new Int32Array(new SharedArrayBuffer(4));
  wakeOnTime();
  while (Atomics.load(beats, 1) === 0) {
    Atomics.wait(never, 0, 0, Math.max(SLEEP_MS_MIN, intervalMs));
    Atomics.add(beats, 0, 1);
    Atomics.notify(beats, 0);
  }
}

/** By default the kernel lets sleepers oversleep by 50 µs to save power. */
function wakeOnTime(): void {
  try {
    writeFileSync(`/proc/${basename(readlinkSync('/proc/thread-self'))}/timerslack_ns`, '1000');
  } catch {
    // Not allowed everywhere: beats are then a little later, which the lateness shows.
  }
}
