// Clears what nobody has asked for in a while out of a cache: what a deleted team had there goes too, because nobody can ask for it.
import type { LRUCache } from 'lru-cache';

/** How long an entry stays that is not used. */
const IDLE_MS = 600_000;
const PURGE_EVERY_MS = 60_000;
/** The clock is read this often: an entry's age matters in minutes, and requests use entries all the time. */
const RESOLUTION_MS = 10_000;

export const IDLE_ENTRIES = { ttl: IDLE_MS, updateAgeOnGet: true, ttlResolution: RESOLUTION_MS } as const;

/** For a cache with these options, as long as anybody holds it. */
export function purgeIdle(cache: Pick<LRUCache<string, object>, 'purgeStale'>): void {
  const held = new WeakRef(cache);
  const timer = setInterval(() => {
    const there = held.deref();
    if (there === undefined) clearInterval(timer);
    else there.purgeStale();
  }, PURGE_EVERY_MS);
  timer.unref();
}
