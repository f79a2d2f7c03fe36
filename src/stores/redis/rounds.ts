// How often an operation that did nothing is sent again, and until when; and with which bounds of a period, where it asks for them.
import { periodBy } from '../../domain/period-rule.ts';
import type { StoreUnavailable } from '../../domain/store-unavailable.ts';

/** An operation is sent at most so often; all times but the last it did nothing. */
const ROUNDS_MAX = 6;
const LATE: StoreUnavailable = { kind: 'unavailable', cause: 'late' };
const UNSETTLED: StoreUnavailable = { kind: 'unavailable', cause: 'unsettled' };

/**
 * An operation is repeated only where it did nothing: it came too late by what was known of the store's clock, or a
 * period's bounds were asked for. Never after a failure, which leaves open whether it was run.
 */
export class Rounds {
  /** The caller's deadline, by the local monotonic clock. */
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
    // The first late reply brought the server's time: an operation that is late again really is too late.
    if (because === 'late' && this.#late) return LATE;
    this.#late ||= because === 'late';
    if (performance.now() >= this.untilMs) return LATE;
    return this.#count >= ROUNDS_MAX ? UNSETTLED : undefined;
  }
}

/** The bounds of a period, and what they were computed from. Functions ask the driver for them, because Lua has no calendar. */
export interface Offer {
  readonly startMs: number;
  readonly endMs: number;
  readonly anchorMs: number;
  /** The rule by which they were. */
  readonly length: string;
}

/** The period that contains `nowMs`, counted from `anchorMs` by the team's rule. Throws when that is none. */
export function boundsFor(nowMs: number, anchorMs: number, length: string): Offer {
  return { ...periodBy(length, anchorMs, nowMs), anchorMs, length };
}
