// What a load process is told, and what it tells: the messages between the bench and its load processes.
import type { Packed } from './histogram.ts';
import type { TextVariety } from './text-variety.ts';

/** Where to and what. Every connection takes the next key for its next request. */
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
  /** As right as the other, for loads that are refused but for a few. */
  readonly alsoStatus?: number;
  /** `undefined`: only the status counts, for answers that carry an id. */
  readonly body: string | undefined;
}

export type LoadCommand =
  | { readonly kind: 'connect'; readonly target: LoadTarget }
  /** As fast as the connections turn around. */
  | { readonly kind: 'closed'; readonly durationMs: number }
  /** Requests fall due at a steady rate, whether or not answers come. */
  | { readonly kind: 'open'; readonly durationMs: number; readonly perSecond: number }
  /** The same as `closed`, by autocannon. */
  | { readonly kind: 'autocannon'; readonly durationMs: number; readonly target: LoadTarget }
  /** Opens connections on top that stay silent. */
  | { readonly kind: 'idle'; readonly port: number; readonly connections: number }
  | { readonly kind: 'leave'; readonly keepIdle: boolean };

export interface LoadResult {
  /** Answers that are as expected. */
  readonly answers: number;
  /** Other answers, and connections that broke. */
  readonly faults: number;
  /** The first fault, for people. */
  readonly fault: string | undefined;
  readonly elapsedMs: number;
  readonly latencies: Packed;
  /** How late requests were sent that had a free connection: the load's own share of the latencies. */
  readonly lateness: Packed;
}

export type LoadReply =
  | { readonly kind: 'done'; readonly result: LoadResult | undefined }
  | { readonly kind: 'failed'; readonly reason: string };

export const NOTHING_MEASURED: LoadResult = { answers: 0, faults: 0, fault: undefined, elapsedMs: 0, latencies: [], lateness: [] };
