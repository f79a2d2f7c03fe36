// Bounds how long one turn of the event loop takes requests: later ones of the turn are turned away, so that no turn gets much longer.
import type { Pressure } from '../ports/pressure.ts';

export interface LoopPressureOptions {
  /** A turn that has taken requests for longer takes no more; 0 never turns anything away. */
  readonly boundMs: number;
  /** A monotonic clock in milliseconds. */
  readonly now: () => number;
}

/**
 * Requests that arrive during a turn wait for its end and make the next one longer: at three times the load that can be
 * served, each turn is three times as long as the one before. A measurement between turns would come too late for that, so
 * the turn itself is timed, from its first request on. A pause before it (a stopped process, garbage collection) turns
 * nobody away.
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
    // Runs when the turn has handled all that had arrived for it.
    setImmediate(this.#endTurn);
    return false;
  }

  /** A bound function, made once: it is handed out in every turn. */
  readonly #endTurn = (): void => {
    this.#inTurn = false;
  };
}
