// ULIDs: drawing them for requests and records, and recognising those that callers send.
import { randomFillSync } from 'node:crypto';
import { monotonicFactory } from 'ulid';

const PATTERN = /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/;
const POOL_BYTES = 4096;

/** The canonical (upper-case) form, or `undefined` when the text is not a ULID. */
export function canonicalUlid(text: string): string | undefined {
  if (text.length !== 26) return undefined;
  const upper = text.toUpperCase();
  return PATTERN.test(upper) ? upper : undefined;
}

/** A source of ULIDs, each greater than the one before. Random bytes are drawn in bulk: one system call serves hundreds of ids. */
export function ulidSource(nowMs: () => number): () => string {
  const pool = new Uint8Array(POOL_BYTES);
  let used = POOL_BYTES;
  const random = (): number => {
    if (used === POOL_BYTES) {
      randomFillSync(pool);
      used = 0;
    }
    return pool[used++]! / 256;
  };
  const next = monotonicFactory(random);
  return () => next(nowMs());
}
