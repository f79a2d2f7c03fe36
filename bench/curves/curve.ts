// A curve: the cost of a request against one thing that is turned up, for each of a few contestants.
import type { Machine } from '../machine/description.ts';

export interface CurvePoint {
  readonly x: number;
  readonly cpuUsPerRequest: number;
  readonly least: number;
  readonly most: number;
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly redisUsPerRequest: number | undefined;
  /** How many requests share a call of Redis. */
  readonly requestsPerCall: number | undefined;
  /** Answers that were not as expected: the point is worth nothing then. */
  readonly faults: number;
  /** Only where memory is what the curve is about. */
  readonly bytesPerConnection?: number;
}

export interface CurveLine {
  readonly contestant: string;
  readonly points: readonly CurvePoint[];
}

export interface Curve {
  readonly title: string;
  /** What is turned up, with its unit. */
  readonly axis: string;
  readonly logarithmic: boolean;
  /** What the curve should look like, and why it does where it is not flat. */
  readonly note: string;
  readonly lines: readonly CurveLine[];
}

export interface CurvesResult {
  readonly machine: Machine;
  readonly curves: readonly Curve[];
}
