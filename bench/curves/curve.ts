// A curve: the cost of a request by one parameter, for each of a few contestants.
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
  /** Unexpected answers: they make the point worthless. */
  readonly faults: number;
  /** Only if the curve is about memory. */
  readonly bytesPerConnection?: number;
}

export interface CurveLine {
  readonly contestant: string;
  readonly points: readonly CurvePoint[];
}

export interface Curve {
  readonly title: string;
  /** The parameter, with its unit. */
  readonly axis: string;
  readonly logarithmic: boolean;
  /** The expected shape, and the reason where it is not flat. */
  readonly note: string;
  readonly lines: readonly CurveLine[];
}

export interface CurvesResult {
  readonly machine: Machine;
  readonly curves: readonly Curve[];
}
