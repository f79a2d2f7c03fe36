// How often and until when an operation that had no effect is sent again, and with which period bounds if it asks for them.
import { periodBy } from '../../domain/period-rule.ts';
import type { StoreUnavailable } from '../../domain/store-unavailable.ts';

/** How often an operation is sent at most; only the last attempt may have an effect. */
const ROUNDS_MAX = 6;
const LATE: StoreUnavailable = { kind: 'unavailable', cause: 'late' };
const UNSETTLED: StoreUnavailable = { kind: 'unavailable', cause: 'unsettled' };

/**
 * An operation is repeated only if it had no effect: it was late by the estimate of the store's clock, or it asked for a
 * period's bounds. Never after a failure, which leaves open whether it was executed.
 */
export class Rounds {
  /** The caller's deadline on the local monotonic clock. */
  readonly untilMs: number;
  #count = 0;
  #late = false;

  constructor(untilMs: number) {
    this.untilMs = untilMs;
  }

  /** Whether all of the time is left. */
  get first(): boolean {
    return this.#count === 0;
  }

  /** Counts a round without effect: `undefined` to continue, otherwise the answer. */
  another(because: 'late' | 'period'): StoreUnavailable | undefined {
    this.#count++;
    // The first late reply corrected the estimate of the server's time; if it is late again, it really is late.
    if (because === 'late' && this.#late) return LATE;
    this.#late ||= because === 'late';
    if (performance.now() >= this.untilMs) return LATE;
    return this.#count >= ROUNDS_MAX ? UNSETTLED : undefined;
  }
}

/** A period's bounds and what they were computed from. Lua functions ask the driver for them, because Lua has no calendar. */
export interface Offer {
  readonly startMs: number;
  readonly endMs: number;
  readonly anchorMs: number;
  /** The rule that they were computed with. */
  readonly length: string;
}

/** The period that contains `nowMs`, counted from `anchorMs` by the team's rule. Throws if the rule is invalid. */
export function boundsFor(nowMs: number, anchorMs: number, length: string): Offer {
  return { ...periodBy(length, anchorMs, nowMs), anchorMs, length };
}
