// Logs, at most once a minute, that the operator's own quota at the engine is exhausted.
import type { Log } from '../ports/log.ts';

/** Every request fails while it lasts; one line a minute is enough. */
const AGAIN_MS = 60_000;

export class QuotaAlarm {
  readonly #log: Log;
  readonly #now: () => number;
  #silentUntilMs = -Infinity;

  /** `now` is a monotonic clock in milliseconds. */
  constructor(log: Log, now: () => number) {
    this.#log = log;
    this.#now = now;
  }

  ring(): void {
    const nowMs = this.#now();
    if (nowMs < this.#silentUntilMs) return;
    this.#silentUntilMs = nowMs + AGAIN_MS;
    this.#log.error("the operator's own quota at the engine is used up: raise it there, or translations stay unavailable");
  }
}
