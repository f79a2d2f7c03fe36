// How often and until when an operation that had no effect is sent again, and with which period bounds if it asks for them.
import { periodBy } from '../../domain/period-rule.ts';
import type { StoreUnavailable } from '../../domain/store-unavailable.ts';

/** How often an operation is sent at most; only the last attempt may have an effect. */
const ROUNDS_MAX = 6;
const LATE: StoreUnavailable = { kind: 'unavailable', cause: 'late' };
const UNSETTLED: StoreUnavailable = { kind: 'unavailable', cause: 'unsettled' };

/** How often an operation has been sent. */
export interface Rounds {
  /** The caller's deadline on the local monotonic clock. */
  readonly untilMs: number;
  readonly count: number;
  /** Whether it was late once. */
  readonly late: boolean;
}

/**
 * The next round of an operation that had no effect, or the answer if there is none: it was late by the estimate of the store's
 * clock, or it asked for a period's bounds. Never after a failure, which leaves open whether it was executed.
 */
export function nextRound({ untilMs, count, late }: Rounds, because: 'late' | 'period'): Rounds | StoreUnavailable {
  // The first late reply corrected the estimate of the server's time; if it is late again, it really is late.
  if ((because === 'late' && late) || performance.now() >= untilMs) return LATE;
  return count + 1 < ROUNDS_MAX ? { untilMs, count: count + 1, late: late || because === 'late' } : UNSETTLED;
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
