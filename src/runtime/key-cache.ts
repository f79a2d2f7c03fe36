// Caches the owners of keys, so that a request with a known key needs only one store operation, its
// admission. Idle entries of this and other caches are evicted, also those of deleted teams.
import { LRUCache } from 'lru-cache';
import type { KeyDigest, KeyOwner, RequiredFact } from '../domain/api-key.ts';
import type { StoreUnavailable } from '../domain/store-unavailable.ts';
import type { KeyCache, KeyDirectory, KeyLookup } from '../ports/key-directory.ts';

/** How long an unused entry stays. */
const IDLE_MS = 600_000;
const PURGE_EVERY_MS = 60_000;
/** How often the clock is read: ages are minutes, while requests use entries all the time. */
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

interface KeyCacheOptions {
  readonly directory: KeyDirectory;
  readonly keysMax: number;
  /** A monotonic clock in milliseconds. */
  readonly now: () => number;
  readonly onLookup: (result: KeyLookup) => void;
}

type FoundOwner = KeyOwner | undefined | StoreUnavailable;

const UNKNOWN_MAX = 10_000;
const UNKNOWN_MS = 1000;
const LOOKUPS_MAX = 1000;
const BUSY: StoreUnavailable = { kind: 'unavailable', cause: 'busy' };

export class LruKeyCache implements KeyCache {
  readonly #options: KeyCacheOptions;
  readonly #owners: LRUCache<KeyDigest, KeyOwner>;
  /** Separate, so that a flood of unknown keys cannot evict known ones. */
  readonly #unknown: LRUCache<KeyDigest, true>;
  readonly #running = new Map<KeyDigest, Promise<FoundOwner>>();

  constructor(options: KeyCacheOptions) {
    this.#options = options;
    this.#owners = new LRUCache({ max: options.keysMax, ...IDLE_ENTRIES, perf: { now: options.now } });
    purgeIdle(this.#owners);
    this.#unknown = new LRUCache({ max: UNKNOWN_MAX, ttl: UNKNOWN_MS, perf: { now: options.now } });
  }

  peek(digest: KeyDigest): KeyOwner | 'unknown' | undefined {
    const owner = this.#owners.get(digest);
    if (owner !== undefined) {
      this.#options.onLookup('hit');
      return owner;
    }
    if (this.#unknown.size === 0 || !this.#unknown.has(digest)) return undefined;
    this.#options.onLookup('unknown_hit');
    return 'unknown';
  }

  find(digest: KeyDigest): FoundOwner | Promise<FoundOwner> {
    const running = this.#running.get(digest);
    if (running !== undefined) return running;
    // Limited, so that a flood of unknown keys does not become a flood of store lookups.
    if (this.#running.size >= LOOKUPS_MAX) {
      this.#options.onLookup('refused');
      return BUSY;
    }
    this.#options.onLookup('miss');
    const found = this.#options.directory.find(digest);
    if (!(found instanceof Promise)) return this.#remember(digest, found);
    const lookup = found.then(
      (answer) => this.#remember(digest, answer),
      (error: unknown) => {
        this.#running.delete(digest);
        throw error;
      },
    );
    this.#running.set(digest, lookup);
    return lookup;
  }

  noteRequired(digest: KeyDigest, fact: RequiredFact): void {
    const owner = this.#owners.get(digest);
    if (owner !== undefined) this.#owners.set(digest, { ...owner, [fact]: true });
  }

  forget(digest: KeyDigest): void {
    this.#owners.delete(digest);
  }

  #remember(digest: KeyDigest, found: FoundOwner): FoundOwner {
    this.#running.delete(digest);
    if (found === undefined) this.#unknown.set(digest, true);
    else if (!('kind' in found)) this.#owners.set(digest, found);
    return found;
  }
}
