// Time, as a parameter: tests move it, nothing sleeps for it.

export interface Clock {
  /** Wall clock: whole milliseconds since the epoch. */
  nowMs(): number;
}
