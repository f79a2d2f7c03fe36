// The messages between the bench and its load processes.
import type { Packed } from './histogram.ts';
import type { TextVariety } from './text-variety.ts';

/** The target and the requests. Every connection takes the next key for its next request. */
export interface LoadTarget {
  readonly port: number;
  readonly path: string;
  readonly connections: number;
  /** Values of `Authorization`; one empty string for none. */
  readonly authorizations: readonly string[];
  readonly body: string;
  readonly expected: Expected;
  /** Without it all requests have the same text; with it, body and expected answer contain `NUMBER_PLACE`. */
  readonly variety?: TextVariety | undefined;
}

/** What every single answer is compared with. */
export interface Expected {
  readonly status: number;
  /** Equally right, for loads that are nearly always refused. */
  readonly alsoStatus?: number;
  /** `undefined`: only the status is checked, for answers that carry an id. */
  readonly body: string | undefined;
}

export type LoadCommand =
  | { readonly kind: 'connect'; readonly target: LoadTarget }
  /** As fast as answers arrive. */
  | { readonly kind: 'closed'; readonly durationMs: number }
  /** Requests fall due at a steady rate, regardless of answers. */
  | { readonly kind: 'open'; readonly durationMs: number; readonly perSecond: number }
  /** The same as `closed`, with autocannon. */
  | { readonly kind: 'autocannon'; readonly durationMs: number; readonly target: LoadTarget }
  /** Opens additional connections that stay silent. */
  | { readonly kind: 'idle'; readonly port: number; readonly connections: number }
  | { readonly kind: 'leave'; readonly keepIdle: boolean };

export interface LoadResult {
  /** Answers that are as expected. */
  readonly answers: number;
  /** Other answers, and connections that broke. */
  readonly faults: number;
  /** The first fault, for display. */
  readonly fault: string | undefined;
  readonly elapsedMs: number;
  readonly latencies: Packed;
  /** The delay of requests for which a connection was free: the load's own share of the latencies. */
  readonly lateness: Packed;
}

export type LoadReply =
  | { readonly kind: 'done'; readonly result: LoadResult | undefined }
  | { readonly kind: 'failed'; readonly reason: string };

export const NOTHING_MEASURED: LoadResult = { answers: 0, faults: 0, fault: undefined, elapsedMs: 0, latencies: [], lateness: [] };
