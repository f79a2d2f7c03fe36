// Finds workers that do not turn: each says every second that its event loop does.

/** How often a worker says so, and how often the primary looks who has not. */
export const TURNING_MS = 1_000;
/** One that has said nothing for so long hangs: it holds connections, and those that the system still gives it, for ever. */
const SILENT_MS = 10_000;
/** Before the first word: modules are being loaded, on a slow machine for long. */
const STARTING_MS = 60_000;
/**
 * When the primary itself looks so much later than it should, it was stopped, or starved, and the workers most likely with it
 * (a suspended machine, SIGSTOP for the whole group): what they have said lies unread, and nobody is judged.
 */
const LATE_MS = 1_000;

export class TurningWatch<W> {
  readonly #now: () => number;
  readonly #onSilent: (worker: W, silentMs: number) => void;
  readonly #heard = new Map<W, { atMs: number; limitMs: number }>();
  #lookedAtMs: number;

  /** `now` is a monotonic clock in milliseconds. `onSilent` is called once for each. */
  constructor(now: () => number, onSilent: (worker: W, silentMs: number) => void) {
    this.#now = now;
    this.#onSilent = onSilent;
    this.#lookedAtMs = now();
  }

  add(worker: W): void {
    this.#heard.set(worker, { atMs: this.#now(), limitMs: STARTING_MS });
  }

  remove(worker: W): void {
    this.#heard.delete(worker);
  }

  turns(worker: W): void {
    const heard = this.#heard.get(worker);
    if (heard === undefined) return;
    heard.atMs = this.#now();
    heard.limitMs = SILENT_MS;
  }

  /** To be called every `TURNING_MS`, when what the workers have said has been read. */
  look(): void {
    const nowMs = this.#now();
    const late = nowMs - this.#lookedAtMs > TURNING_MS + LATE_MS;
    this.#lookedAtMs = nowMs;
    for (const [worker, heard] of this.#heard) {
      if (late) heard.atMs = nowMs;
      const silentMs = nowMs - heard.atMs;
      if (silentMs <= heard.limitMs) continue;
      this.#heard.delete(worker);
      this.#onSilent(worker, silentMs);
    }
  }
}
