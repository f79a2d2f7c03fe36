// What tells the chain that the process cannot keep up, and who is told that a request was turned away for it.

export interface Pressure {
  /** Whether this one request is to be turned away. Asked once per request; costs next to nothing. */
  overloaded(): boolean;
}

export type ShedReason = 'concurrency' | 'team_concurrency' | 'loop_delay';

export type OnShed = (reason: ShedReason) => void;
