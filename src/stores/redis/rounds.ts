// How often an operation is sent that has done nothing yet, and when that has to end.
import type { StoreUnavailable } from '../../domain/store-unavailable.ts';

/** All but the last of an operation's rounds did nothing. */
const ROUNDS_MAX = 6;
const LATE: StoreUnavailable = { kind: 'unavailable', cause: 'late' };
const UNSETTLED: StoreUnavailable = { kind: 'unavailable', cause: 'unsettled' };

/**
 * An operation is repeated only where it did nothing: it came too late by what was known of the store's clock, or a
 * period's bounds were asked for. Never after a failure, which leaves open whether it was run.
 */
export class Rounds {
  /** When whoever asked stops waiting, by the local monotonic clock. */
  readonly untilMs: number;
  #count = 0;
  #late = false;

  constructor(untilMs: number) {
    this.untilMs = untilMs;
  }

  /** Whether nothing of its time is used up. */
  get first(): boolean {
    return this.#count === 0;
  }

  /** Counts a round that did nothing: `undefined` to go on, or what is to be answered instead. */
  another(because: 'late' | 'period'): StoreUnavailable | undefined {
    this.#count++;
    // The reply has brought the time: one that is late again comes too late by the true one.
    if (because === 'late' && this.#late) return LATE;
    this.#late ||= because === 'late';
    if (performance.now() >= this.untilMs) return LATE;
    return this.#count >= ROUNDS_MAX ? UNSETTLED : undefined;
  }
}
