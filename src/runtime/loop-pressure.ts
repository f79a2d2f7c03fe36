// Limits how long one turn of the event loop accepts requests, shedding later ones, so that no turn gets much longer.
import type { Pressure } from '../ports/pressure.ts';

export interface LoopPressureOptions {
  /** A turn that has accepted requests for longer sheds the rest; 0 disables shedding. */
  readonly boundMs: number;
  /** A monotonic clock in milliseconds. */
  readonly now: () => number;
}

/**
 * Requests that arrive during a turn wait for its end and make the next one longer: at three times the sustainable load, each
 * turn is three times as long as the one before. Measuring between turns would be too late, so the turn itself is timed, from
 * its first request on. A pause before it (a stopped process, garbage collection) does not cause shedding.
 */
export class LoopPressure implements Pressure {
  readonly #boundMs: number;
  readonly #now: () => number;
  #inTurn = false;
  #turnStartedAtMs = 0;

  constructor({ boundMs, now }: LoopPressureOptions) {
    this.#boundMs = boundMs;
    this.#now = now;
  }

  overloaded(): boolean {
    if (this.#boundMs === 0) return false;
    if (this.#inTurn) return this.#now() - this.#turnStartedAtMs > this.#boundMs;
    this.#inTurn = true;
    this.#turnStartedAtMs = this.#now();
    // Runs once the turn has handled everything that had arrived for it.
    setImmediate(this.#endTurn);
    return false;
  }

  /** A bound function, created once because every turn uses it. */
  readonly #endTurn = (): void => {
    this.#inTurn = false;
  };
}
