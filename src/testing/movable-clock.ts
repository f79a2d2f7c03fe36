// A clock that tests move by hand, forwards and backwards.
import type { Clock } from '../ports/clock.ts';

// Later than any real clock that runs these tests, so that expiry times set by a store's server clock never take effect.
export const START_MS = Date.UTC(2040, 0, 15, 12, 0, 0);

export class MovableClock implements Clock {
  #nowMs = START_MS;

  nowMs(): number {
    return this.#nowMs;
  }

  set(nowMs: number): void {
    this.#nowMs = nowMs;
  }

  /** Negative values step back. */
  step(ms: number): void {
    this.#nowMs += ms;
  }
}
