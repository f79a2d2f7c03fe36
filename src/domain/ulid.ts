// ULIDs: generates them for requests and records, and validates those sent by callers.
import { randomFillSync } from 'node:crypto';

const PATTERN = /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/;
const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const TIME_DIGITS = 10;
/** Random bytes are fetched in bulk: one system call serves hundreds of ids. */
const POOL_BYTES = 4096;

/** The last four digits count up within a millisecond; those before them are random and drawn once per millisecond. */
const DRAWN_DIGITS = 12;
const COUNT_BYTES = 3;
const COUNT_MAX = 2 ** 20 - 1;
/** Maps ten bits to two digits. */
const PAIRS = Array.from({ length: 1024 }, (_, value) => ALPHABET.charAt(value >> 5) + ALPHABET.charAt(value & 31));

/** The canonical (upper-case) form, or `undefined` if the text is not a ULID. */
export function canonicalUlid(text: string): string | undefined {
  if (text.length !== 26) return undefined;
  const upper = text.toUpperCase();
  return PATTERN.test(upper) ? upper : undefined;
}

/** A source of ULIDs that always increase, even if the clock does not. Called for every request, so it costs only two short strings. */
export function ulidSource(nowMs: () => number): () => string {
  const pool = new Uint8Array(POOL_BYTES);
  let used = POOL_BYTES;
  let ofMs = -1;
  let front = '';
  let count = 0;
  const begin = (ms: number): void => {
    if (used + DRAWN_DIGITS + COUNT_BYTES > POOL_BYTES) {
      randomFillSync(pool);
      used = 0;
    }
    ofMs = ms;
    front = '';
    for (let i = 0, left = ms; i < TIME_DIGITS; i++, left = Math.floor(left / 32)) front = ALPHABET.charAt(left % 32) + front;
    for (let i = 0; i < DRAWN_DIGITS; i++) front += ALPHABET.charAt(pool[used++]! & 31);
    // Starts in the lower half of the 20 bits, which leaves room for at least half a million ids in this millisecond.
    count = ((pool[used]! & 7) << 16) | (pool[used + 1]! << 8) | pool[used + 2]!;
    used += COUNT_BYTES;
  };
  return () => {
    const ms = nowMs();
    if (ms > ofMs) begin(ms);
    // If the counter is exhausted, borrow from the next millisecond, which still sorts after.
    else if (count === COUNT_MAX) begin(ofMs + 1);
    else count++;
    // Joining the four digits first makes V8 copy them, instead of building a rope that must be flattened later.
    return front + (PAIRS[count >> 10]! + PAIRS[count & 1023]!);
  };
}
