// Whether the process cannot keep up, and the callback for each request that is turned away for load.

export interface Pressure {
  /** Whether this one request is to be turned away. Asked once per request; costs next to nothing. */
  overloaded(): boolean;
}

export type ShedReason = 'concurrency' | 'team_concurrency' | 'loop_delay';

export type OnShed = (reason: ShedReason) => void;
