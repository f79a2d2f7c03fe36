// Decides which time to believe: a step of a wall clock by more than an hour counts only after it has held for ten minutes, because
// what is deleted, closed or begun by a wrong time cannot be undone.

/** A step of at most this much is followed at once, as time servers make them. */
export const FOLLOWED_STEP_MS = 3_600_000;
/** A longer step is believed when it has held for this long, on the monotonic clock. */
export const HELD_STEP_MS = 600_000;
/** Clocks drift and are slewed: within this much, a step is still the same one. */
const SAME_STEP_MS = 60_000;

/** Whether two times are close enough for one to be believed because of the other. */
export function agree(oneMs: number, otherMs: number): boolean {
  return Math.abs(oneMs - otherMs) <= FOLLOWED_STEP_MS;
}

/** Judges one wall clock by its offset from a monotonic clock. All offsets are in milliseconds: wall time minus monotonic time. */
export class ClockJudge {
  /** The last offset that has held, or that another witness has confirmed. */
  #trustedMs: number;
  #believedMs: number;
  #seenMs: number;
  /** Since when the clock has had the offset that was last seen. */
  #seenSinceMs: number;

  /** Begins with an offset that is believed. */
  constructor(offsetMs: number, monotonicMs: number) {
    this.#trustedMs = this.#believedMs = this.#seenMs = offsetMs;
    this.#seenSinceMs = monotonicMs;
  }

  /** The offset of the time that is believed. */
  get believedMs(): number {
    return this.#believedMs;
  }

  /** How far the clock is from the time that is believed; 0 if its own time is. */
  get stepMs(): number {
    return agree(this.#seenMs, this.#trustedMs) ? 0 : this.#seenMs - this.#believedMs;
  }

  /** The bounds of offsets that need no judging. */
  get trustedMs(): number {
    return this.#trustedMs;
  }

  /** `isContradicted`: another clock that is believed disagrees, so that no time makes this one believed. */
  look(offsetMs: number, monotonicMs: number, isContradicted = false): void {
    const hasHeld = monotonicMs - this.#seenSinceMs >= HELD_STEP_MS;
    if (isContradicted || Math.abs(offsetMs - this.#seenMs) > SAME_STEP_MS) {
      this.#seenMs = offsetMs;
      this.#seenSinceMs = monotonicMs;
    } else if (hasHeld) {
      this.#trustedMs = this.#seenMs = offsetMs;
    }
    if (agree(offsetMs, this.#trustedMs)) this.#believedMs = offsetMs;
  }

  /** Believes an offset at once, because another witness confirms it. */
  trust(offsetMs: number, monotonicMs: number): void {
    this.#trustedMs = this.#believedMs = this.#seenMs = offsetMs;
    this.#seenSinceMs = monotonicMs;
  }
}
