// Whether the process is overloaded, and the callback for each request shed because of it.

export interface Pressure {
  /** Whether to shed this request. Called once per request, so it must be cheap. */
  overloaded(): boolean;
}

export type ShedReason = 'concurrency' | 'team_concurrency' | 'loop_delay';

export type OnShed = (reason: ShedReason) => void;
