// Traces: what the parts of the gateway report on a request that is traced, a caller's W3C
// `traceparent`, and the one that is sent to the engine. Times are milliseconds of the gateway's
// monotonic clock.
import { randomBytes } from 'node:crypto';

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
 * Of an attempt that several requests share: each has a span, and the first one's is the engine's
 * parent. `undefined` if none is traced.
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

/** Version 00 in full; of a later one 55 characters of the same form, then a dash or nothing. */
const PATTERN = /^(?:00|(?!00|ff)[0-9a-f]{2}(?=.{53}(?:-|$)))-(?!0{32})([0-9a-f]{32})-((?!0{16})[0-9a-f]{16})-([0-9a-f]{2})/;
const VERSION_00_LENGTH = 55;
const SAMPLED = 0x01;
/** "Sampled" and "random trace id"; in version 00 a sender sets the other bits to zero. */
const KNOWN_FLAGS = 0x03;
const SPAN_ID_BYTES = 8;

/** A caller's span, of which the request is a part. */
export interface CallerSpan {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** 16 hexadecimal digits. */
  readonly spanId: string;
  /** Those that are known: 1 is sampled, 2 a trace id that was drawn at random. */
  readonly flags: number;
}

/** `undefined` if it is missing or invalid, because then there is no trace to join. */
export function callerSpanOf(value: string | undefined): CallerSpan | undefined {
  if (value === undefined) return undefined;
  const match = PATTERN.exec(value);
  if (match === null || (value.startsWith('00') && value.length !== VERSION_00_LENGTH)) return undefined;
  return { traceId: match[1]!, spanId: match[2]!, flags: Number.parseInt(match[3]!, 16) & KNOWN_FLAGS };
}

/** What is known of a value, for later; `undefined` if it is missing or invalid. */
export function knownTraceparent(value: string | undefined): string | undefined {
  return callerSpanOf(value) === undefined ? undefined : value!.slice(0, VERSION_00_LENGTH);
}

export function isSampled({ flags }: CallerSpan): boolean {
  return (flags & SAMPLED) !== 0;
}

/** How a caller's `traceparent` is passed on to an engine; `undefined` sends none. */
export type PassTraceparent = (value: string | undefined, newSpanId?: () => string) => string | undefined;

/** For the engine: the caller's trace and flags, in version 00, with a span of our own. */
export const traceparentForward = passing(KNOWN_FLAGS);

/** Of a request that the gateway did not sample: the flag is its decision, not the caller's. */
export const traceparentUnsampled = passing(KNOWN_FLAGS & ~SAMPLED);

function passing(flags: number): PassTraceparent {
  return (value, newSpanId = () => randomBytes(SPAN_ID_BYTES).toString('hex')) => {
    const caller = callerSpanOf(value);
    return caller && `00-${caller.traceId}-${newSpanId()}-0${caller.flags & flags}`;
  };
}
