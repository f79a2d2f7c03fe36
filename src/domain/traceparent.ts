// W3C Trace Context: derives the `traceparent` sent to the engine from the caller's.
import { randomBytes } from 'node:crypto';

/**
 * Version 00 in full; of a later version its first 55 characters, which have the same form and must be followed by a dash or
 * nothing.
 */
const PATTERN = /^(?:00|(?!00|ff)[0-9a-f]{2}(?=.{53}(?:-|$)))-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-([0-9a-f]{2})/;
const VERSION_00_LENGTH = 55;
/** The flags "sampled" and "random trace id"; a sender must set the other bits to zero in version 00. */
const KNOWN_FLAGS = 0x03;
const SPAN_ID_BYTES = 8;

/**
 * The value for the engine: the caller's trace and flags, in version 00, with a span of our own. `undefined` if the caller's is
 * missing or invalid, because then there is no trace to join.
 */
export function traceparentForward(value: string | undefined, newSpanId: () => string = randomSpanId): string | undefined {
  if (value === undefined) return undefined;
  const match = PATTERN.exec(value);
  if (match === null || (value.startsWith('00') && value.length !== VERSION_00_LENGTH)) return undefined;
  const flags = Number.parseInt(match[2]!, 16) & KNOWN_FLAGS;
  return `00-${match[1]!}-${newSpanId()}-0${flags}`;
}

function randomSpanId(): string {
  return randomBytes(SPAN_ID_BYTES).toString('hex');
}
