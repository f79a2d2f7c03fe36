// Time as a parameter: tests move it. domain/clock-judge.ts decides which time is believed.
import type { StoreUnavailable } from '../domain/store-unavailable.ts';

export interface Clock {
  /** Wall clock: whole milliseconds since the epoch. */
  nowMs(): number;
  /** How far a wrong clock is from that time: meanwhile time alone deletes and ends nothing. */
  readonly stepMs?: number;
  /** By how much it was set forward in all: time that has not passed for what was under way. */
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
  /** Judges again, about once a second, and answers the latest time that the store has seen. */
  look(): Promise<number | undefined | StoreUnavailable>;
  /**
   * Makes every process believe the clock within a second. Answers its time, and its distance from
   * the latest one that the store had seen; `apart` if the servers' clocks disagree.
   */
  accept(): Promise<AcceptedClock | ClocksApart | StoreUnavailable>;
}

export interface AcceptedClock {
  readonly kind: 'accepted';
  readonly nowMs: number;
  readonly steppedMs: number;
}

/** None of them can be accepted: which is right, the operator says by setting the others. */
export interface ClocksApart {
  readonly kind: 'apart';
  readonly servers: readonly { readonly server: string; readonly nowMs: number }[];
}
