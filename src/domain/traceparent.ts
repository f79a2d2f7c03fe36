// W3C Trace Context: reads a caller's `traceparent`, and derives the one that is sent to the engine.
import { randomBytes } from 'node:crypto';

/**
 * Version 00 in full; of a later version its first 55 characters, which have the same form and must be followed by a dash or
 * nothing.
 */
const PATTERN = /^(?:00|(?!00|ff)[0-9a-f]{2}(?=.{53}(?:-|$)))-(?!0{32})([0-9a-f]{32})-((?!0{16})[0-9a-f]{16})-([0-9a-f]{2})/;
const VERSION_00_LENGTH = 55;
const SAMPLED = 0x01;
/** The flags "sampled" and "random trace id"; a sender must set the other bits to zero in version 00. */
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

/** The value for the engine: the caller's trace and flags, in version 00, with a span of our own. */
export const traceparentForward: PassTraceparent = (value, newSpanId = randomSpanId) => {
  const caller = callerSpanOf(value);
  return caller && `00-${caller.traceId}-${newSpanId()}-0${caller.flags}`;
};

/** The same for a request that the gateway, which samples by itself, has not sampled: the flag is its decision, not the caller's. */
export const traceparentUnsampled: PassTraceparent = (value, newSpanId = randomSpanId) => {
  const caller = callerSpanOf(value);
  return caller && `00-${caller.traceId}-${newSpanId()}-0${caller.flags & ~SAMPLED}`;
};

function randomSpanId(): string {
  return randomBytes(SPAN_ID_BYTES).toString('hex');
}
