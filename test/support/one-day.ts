// For tests of today's days and months, which must not begin in one day and end in the next.
import { setTimeout as delay } from 'node:timers/promises';
import { DAY_MS } from './door/terms.ts';

/** What a file takes on a busy machine. */
const FILE_MS = 60_000;

/** Resolves when enough is left of this UTC day for the tests of a file: at once, but for its last minute. */
export async function untilOneDay(): Promise<void> {
  const leftMs = DAY_MS - (Date.now() % DAY_MS);
  if (leftMs < FILE_MS) await delay(leftMs);
}
