// What the parts of the gateway report on a request that is traced: its admission, its attempts and its settlement. Times are
// milliseconds of the gateway's monotonic clock.

/** The trace of one sampled request. Its methods never throw and never wait. */
export interface RequestTrace {
  /** 32 hexadecimal digits: the caller's, if the caller sent a valid `traceparent`. */
  readonly traceId: string;
  /** An admission by the ledger that has ended, with the word for its result. */
  admission(startedAtMs: number, endedAtMs: number, result: string): void;
  /** An attempt begins. */
  attempt(what: TracedAttempt): AttemptTrace;
  /** The ledger is asked to settle the request's reservation. */
  settlement(verdict: string): SettlementTrace;
}

/** The part of it that takes attempts. */
export type AttemptsTrace = Pick<RequestTrace, 'attempt'>;

/** What an attempt is made at: only names from the configuration. */
export interface TracedAttempt {
  /** The engine's name; `undefined` for the target of a forward route. */
  readonly engine: string | undefined;
  /** The URL of the replica or target, without credentials. */
  readonly url: string;
  readonly number: number;
  /** If several requests share it: the attempt of the request whose span is the engine's parent. */
  readonly sharedWith?: AttemptTrace | undefined;
}

export interface AttemptTrace {
  /** To be sent with the attempt: its span is the engine's parent. */
  readonly traceparent: string;
  /** Call it once. `failure` in our own words; `undefined` for a usable answer. */
  ended(failure: string | undefined, status?: number, cause?: string): void;
}

export interface SettlementTrace {
  /** Call it once, with the ledger's word for the result, and how often it was asked. */
  ended(result: string, tries: number): void;
}

/**
 * The trace of an attempt that several requests share: each has its own span for it. The engine's parent is the first one's.
 * `undefined` if none of them is traced.
 */
export function sharedTrace(traces: readonly (AttemptsTrace | undefined)[]): AttemptsTrace | undefined {
  const [lead, ...others] = traces.filter((trace) => trace !== undefined);
  if (lead === undefined || others.length === 0) return lead;
  return {
    attempt(what) {
      const leading = lead.attempt(what);
      const all = [leading, ...others.map((other) => other.attempt({ ...what, sharedWith: leading }))];
      return {
        traceparent: leading.traceparent,
        ended: (failure, status, cause) => all.forEach((one) => one.ended(failure, status, cause)),
      };
    },
  };
}
