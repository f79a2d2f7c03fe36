// What a process may know of a key without the admission: which team owns it, that it is unknown, and that its rate window is full.
import type { CarriedFacts, KeyDigest, KeyOwner, RequiredFact } from '../domain/api-key.ts';
import type { StoreUnavailable } from '../domain/store-unavailable.ts';
import type { RequestTag } from '../domain/request-tag.ts';
import type { RateLimited } from './ledger.ts';

export interface KeyDirectory {
  /** `undefined` if no key has this digest. Does not consider revocation, which the admission checks. */
  find(digest: KeyDigest): KeyOwner | undefined | StoreUnavailable | Promise<KeyOwner | undefined | StoreUnavailable>;
}

/** `hit`: the owner was cached. `unknown_hit`: cached as unknown. `miss`: the store was queried. `refused`: too many unknown keys. */
export type KeyLookup = 'hit' | 'unknown_hit' | 'miss' | 'refused';

/**
 * A key directory with a cache in front. It caches owners, which never change except for hints on what the store wants; the
 * admission checks everything else about a key.
 */
export interface KeyCache extends KeyDirectory {
  /** The cached result, without a lookup: an owner, `unknown` (remembered briefly), or nothing. */
  peek(digest: KeyDigest): KeyOwner | 'unknown' | undefined;
  /** Marks a cached owner, because the store needs this of requests with this key. */
  noteRequired(digest: KeyDigest, fact: RequiredFact): void;
  /** Drops a cached owner, because the store no longer has the key. */
  forget(digest: KeyDigest): void;
}

/** Limits lookups of unknown keys per address. Addresses are IP addresses in their shortest form. */
export interface UnknownKeyLimit {
  /** Whether this address may no longer look up keys that are not in the cache. */
  reached(address: string): boolean;
  /** Counts an unknown key sent from this address. */
  add(address: string): void;
}

export interface FullWindows {
  /** Nothing is remembered. May be false although nothing holds any more. */
  readonly isEmpty: boolean;
  /**
   * The refusal that the store would repeat now for this caller; `undefined` if that is not certain.
   */
  refusal(caller: RefusedCaller): RateLimited | undefined;
  /** Remembers a refusal of the store. `askedAtMs`: a moment before the request was sent to it, by the monotonic clock. */
  note(caller: RefusedCaller, refused: RateLimited, askedAtMs: number): void;
}

/** As in the request to the store. */
export interface RefusedCaller extends CarriedFacts {
  readonly keyId: string;
  readonly tag?: Pick<RequestTag, 'name'> | undefined;
}
