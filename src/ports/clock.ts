// Time as a parameter: tests move the clock instead of sleeping. Which time is believed is decided in domain/judged-clock.ts.
import type { StoreUnavailable } from '../domain/store-unavailable.ts';

export interface Clock {
  /** Wall clock: whole milliseconds since the epoch. */
  nowMs(): number;
}

/** A clock that is not believed. */
export interface ClockStep {
  /** How far it is from the time that is believed; negative if it is behind. */
  readonly byMs: number;
  /** The server whose clock it is, if not this machine's. */
  readonly server?: string;
}

/** What a store does about a clock that steps by more than an hour (domain/clock-judge.ts). */
export interface StoreClock {
  /** The clock that is furthest from the time that is believed; `undefined` if all are believed. */
  step(): ClockStep | undefined;
  /** Judges again, also by what other processes have found; to be called about once a second. */
  look(): Promise<StoreUnavailable | undefined>;
  /**
   * Makes every process of the store believe the clock as it is now, within about a second. Answers the time that they believe,
   * and how far the clock was from what they believed before; `apart` if the clocks of the servers disagree.
   */
  accept(): Promise<AcceptedClock | ClocksApart | StoreUnavailable>;
}

export interface AcceptedClock {
  readonly kind: 'accepted';
  readonly nowMs: number;
  readonly steppedMs: number;
}

/** None of them can be accepted: which one is right is for the operator to say, by setting the others. */
export interface ClocksApart {
  readonly kind: 'apart';
  readonly servers: readonly { readonly server: string; readonly nowMs: number }[];
}
