// ULIDs: generates them for requests and records, validates those sent by callers, and judges those
// that calls to engines and upstreams carry in `X-Request-Id`.
import { randomFillSync } from 'node:crypto';
import { monotonicFactory } from 'ulid';

const PATTERN = /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/;
/** Random bytes are fetched in bulk: one system call serves hundreds of ids. */
const POOL_BYTES = 4096;
const BYTE_VALUES = 256;

/** The canonical (upper-case) form, or `undefined` if the text is not a ULID. */
export function canonicalUlid(text: string): string | undefined {
  if (text.length !== 26) return undefined;
  const upper = text.toUpperCase();
  return PATTERN.test(upper) ? upper : undefined;
}

/** A source of ULIDs that always increase, even if the clock does not. */
export function ulidSource(nowMs: () => number): () => string {
  const pool = new Uint8Array(POOL_BYTES);
  let used = POOL_BYTES;
  // A byte for each digit: 256 is a multiple of 32, so every digit is as likely.
  const next = monotonicFactory(() => {
    if (used === POOL_BYTES) {
      randomFillSync(pool);
      used = 0;
    }
    return pool[used++]! / BYTE_VALUES;
  });
  return () => next(nowMs());
}

/**
 * A ULID, perhaps with the suffixes of later works and an attempt's further calls. Other servers'
 * own ids look different.
 */
const OURS = /^[0-7][0-9a-hjkmnp-tv-z]{25}(?:-\d{1,6}){0,3}$/i;
/** A longer value is no id of ours. */
const VALUE_CHARACTERS_MAX = 128;

/**
 * What an answer's `X-Request-Id` says: `ours` was sent, `foreign` has the form of our ids and is
 * another request's, `own` is the server's and says nothing.
 */
export type AnsweredId = 'ours' | 'foreign' | 'own';

/** The id of a request's work `number`, from 2 on; the first has the request's own id. */
export function laterWorkId(requestId: string, number: number): string {
  return `${requestId}-${number}`;
}

/** The id of an attempt's call `number`, from 2 on; the first call has the work's own id. */
export function furtherCallId(requestId: string, attempt: 1 | 2, number: number): string {
  return `${requestId}-${attempt}-${number}`;
}

/**
 * `sent` is empty if no id was sent. A proxy may have joined several fields into a list, of which
 * any foreign id decides.
 */
export function answeredId(value: string, sent: string): AnsweredId {
  if (value === '' || value.length > VALUE_CHARACTERS_MAX) return 'own';
  // As nearly every engine has it that repeats ids.
  if (value === sent) return 'ours';
  let found: AnsweredId = 'own';
  for (const item of value.split(',')) {
    const id = item.trim();
    if (sent !== '' && id.toUpperCase() === sent.toUpperCase()) found = 'ours';
    else if (OURS.test(id)) return 'foreign';
  }
  return found;
}
