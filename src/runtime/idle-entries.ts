// Evicts idle cache entries. This also removes those of deleted teams, because nobody can use them any more.
import type { LRUCache } from 'lru-cache';

/** How long an unused entry is kept. */
const IDLE_MS = 600_000;
const PURGE_EVERY_MS = 60_000;
/** How often the cache reads the clock: ages matter in minutes, while requests use entries all the time. */
const RESOLUTION_MS = 10_000;

export const IDLE_ENTRIES = { ttl: IDLE_MS, updateAgeOnGet: true, ttlResolution: RESOLUTION_MS } as const;

/** For a cache with these options, for as long as it is referenced. */
export function purgeIdle(cache: Pick<LRUCache<string, object>, 'purgeStale'>): void {
  const held = new WeakRef(cache);
  const timer = setInterval(() => {
    const there = held.deref();
    if (there === undefined) clearInterval(timer);
    else there.purgeStale();
  }, PURGE_EVERY_MS);
  timer.unref();
}
