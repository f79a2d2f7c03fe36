// The admin API's answer for the live window: points of five seconds, oldest first.
import { rfc3339 } from '../domain/period.ts';

/** The figures of one step of five seconds; `app/` adds up those of all processes. */
export interface StepFigures {
  readonly atMs: number;
  readonly requests: Readonly<Record<string, number>>;
  readonly p50Ms: number | null;
  readonly p99Ms: number | null;
  readonly characters: number;
  readonly engineFailures: number;
  readonly inFlight: number;
}

export interface LivePoint {
  /** RFC 3339, in multiples of `step_seconds`. */
  readonly at: string;
  /** By problem code, `ok`, `client_closed`. */
  readonly requests: Readonly<Record<string, number>>;
  /** `null` if there were no requests. */
  readonly p50_ms: number | null;
  readonly p99_ms: number | null;
  readonly characters: number;
  /** Failed attempts. */
  readonly engine_failures: number;
  /** The highest number within the step. */
  readonly in_flight: number;
}

export interface LiveReport {
  readonly step_seconds: number;
  readonly points: readonly LivePoint[];
}

export function liveReport(stepSeconds: number, steps: readonly StepFigures[]): LiveReport {
  return {
    step_seconds: stepSeconds,
    points: steps.map((step) => ({
      at: rfc3339(step.atMs),
      requests: step.requests,
      p50_ms: step.p50Ms,
      p99_ms: step.p99Ms,
      characters: step.characters,
      engine_failures: step.engineFailures,
      in_flight: step.inFlight,
    })),
  };
}
