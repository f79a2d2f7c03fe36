// Detects hung workers: each sends a heartbeat every second while its event loop runs.

/** How often a worker sends a heartbeat, and how often the primary checks for missing ones. */
export const HEARTBEAT_MS = 1_000;
/** A worker silent for this long is hung: it would hold its connections, and new ones that the system assigns to it, for ever. */
const SILENT_MS = 10_000;
/** Limit before the first heartbeat, because loading modules can take long on a slow machine. */
const STARTING_MS = 60_000;
/**
 * If the primary's own check is this late, it was suspended or starved, most likely together with its workers (a suspended
 * machine, SIGSTOP for the whole group): their heartbeats may be unread, so no worker is declared hung.
 */
const LATE_MS = 1_000;

export class HeartbeatWatch<W> {
  readonly #now: () => number;
  readonly #onSilent: (worker: W, silentMs: number) => void;
  readonly #heard = new Map<W, { atMs: number; limitMs: number }>();
  #lookedAtMs: number;

  /** `now` is a monotonic clock in milliseconds. `onSilent` is called once per hung worker. */
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

  beat(worker: W): void {
    const heard = this.#heard.get(worker);
    if (heard === undefined) return;
    heard.atMs = this.#now();
    heard.limitMs = SILENT_MS;
  }

  /** Call it every `HEARTBEAT_MS`, after reading the workers' messages. */
  look(): void {
    const nowMs = this.#now();
    const late = nowMs - this.#lookedAtMs > HEARTBEAT_MS + LATE_MS;
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
