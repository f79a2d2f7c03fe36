// ULIDs: generates them for requests and records, and validates those sent by callers.
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
