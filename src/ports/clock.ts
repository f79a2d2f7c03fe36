// Time as a parameter: tests move the clock instead of sleeping.

export interface Clock {
  /** Wall clock: whole milliseconds since the epoch. */
  nowMs(): number;
}
