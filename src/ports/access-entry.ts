// The access log: one entry per request, with only the fields that are safe to keep.
import type { RequestStats } from '../domain/slots.ts';

/** With the request's figures; `characters` are those charged for a delivered translation. */
export interface AccessEntry extends Readonly<Omit<RequestStats, 'canSpare' | 'works'>> {
  readonly requestId: string;
  /** The route's name, or one of the fixed names for requests that matched no route. */
  readonly route: string;
  /** `undefined` when the caller disconnected before there was an answer. */
  readonly status: number | undefined;
  /** Problem code, `ok`, or `client_closed`. */
  readonly code: string;
  readonly teamId: string | undefined;
  readonly keyId: string | undefined;
  /** The client's IP address. Without trusted proxies only for keys restricted to addresses. */
  readonly client: string | undefined;
  /** What a 400 is about, if its detail names it; `(unknown)` for a member that there is not. */
  readonly parameter: string | undefined;
  /** If the request is traced. */
  readonly traceId?: string | undefined;
  readonly durationMs: number;
}

/** One that was refused or met a failure, held in memory. Survives structured cloning. */
export type RecentRequest = Pick<
  AccessEntry,
  'requestId' | 'route' | 'code' | 'teamId' | 'keyId' | 'engine' | 'failures' | 'parameter' | 'limitOf'
> & {
  /** When it ended, by the wall clock. */
  readonly atMs: number;
  readonly status: number;
};

/** A team's traffic in the last 15 minutes. Survives structured cloning. */
export interface TeamTraffic {
  readonly teamId: string;
  /** All that ended, whatever their outcome. */
  readonly requests: number;
  /** Those that were neither answered nor left by their caller. */
  readonly unanswered: number;
  /** Charged. */
  readonly characters: number;
}

/** The teams with most traffic in the last 15 minutes, of all processes together; busiest first. */
export interface Busiest {
  readonly byRequests: readonly TeamTraffic[];
  readonly byCharacters: readonly TeamTraffic[];
  /** Requests of teams that were not counted each, because there were too many. */
  readonly uncounted: number;
}

/** Why a request was refused because of load. */
export type ShedReason = 'concurrency' | 'team_concurrency' | 'loop_delay';

export interface AccessLog {
  record(entry: AccessEntry): void;
}
