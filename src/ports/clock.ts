// Time as a parameter: tests move the clock instead of sleeping. Which time is believed is decided in domain/clock-judge.ts.
import type { StoreUnavailable } from '../domain/store-unavailable.ts';

export interface Clock {
  /** Wall clock: whole milliseconds since the epoch. */
  nowMs(): number;
  /** How far the machine's clock is from that time, if it is wrong: meanwhile nothing may be deleted or ended by time alone. */
  readonly stepMs?: number;
  /** By how much it has been set forward, together, since the process began: time that has not passed for what was under way. */
  readonly setForwardMs?: number;
}

/** A clock that is wrong. */
export interface ClockStep {
  /** How far it is from the time that has gone on meanwhile; negative if it is behind. */
  readonly byMs: number;
  /** The server whose clock it is, if not this machine's. */
  readonly server?: string;
}

/** What a store knows of the clock that it goes by (domain/clock-judge.ts). */
export interface StoreClock {
  /** The clock that is furthest from the time that is believed; `undefined` if all are right. */
  step(): ClockStep | undefined;
  /** Judges again, and answers the latest time that the store has seen, if any; to be called about once a second. */
  look(): Promise<number | undefined | StoreUnavailable>;
  /**
   * Makes every process of the store believe the clock as it is now, within about a second. Answers its time, and how far that is from
   * the latest time that the store had seen; `apart` if the clocks of the servers disagree.
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
