// What a process may know of a key without the admission: which team owns it, that it is unknown,
// and that its rate window is full.
import type { CarriedFacts, KeyDigest, KeyOwner, RequiredFact } from '../domain/api-key.ts';
import type { StoreUnavailable } from '../domain/store-unavailable.ts';
import type { RequestTag } from '../domain/request-tag.ts';
import type { RateLimited } from './ledger.ts';

export interface KeyDirectory {
  /** `undefined` if no key has this digest. Revocation is the admission's. */
  find(digest: KeyDigest): KeyOwner | undefined | StoreUnavailable | Promise<KeyOwner | undefined | StoreUnavailable>;
}

/** `hit`, `unknown_hit`: cached. `miss`: the store was asked. `refused`: too many unknown keys. */
export type KeyLookup = 'hit' | 'unknown_hit' | 'miss' | 'refused';

/**
 * Owners never change, except for hints on what the store requires; the admission checks everything
 * else about a key.
 */
export interface KeyCache extends KeyDirectory {
  /** The cached result, without a lookup: an owner, `unknown` (remembered briefly), or nothing. */
  peek(digest: KeyDigest): KeyOwner | 'unknown' | undefined;
  /** Marks a cached owner, because the store needs this of requests with this key. */
  noteRequired(digest: KeyDigest, fact: RequiredFact): void;
  /** Drops a cached owner, because the store no longer has the key. */
  forget(digest: KeyDigest): void;
}

/** Limits lookups of unknown keys per address, in its shortest form. */
export interface UnknownKeyLimit {
  /** Whether this address may no longer look up keys that are not in the cache. */
  reached(address: string): boolean;
  /** Counts an unknown key sent from this address. */
  add(address: string): void;
}

export interface FullWindows {
  /** Nothing is remembered. May be false although nothing holds any more. */
  readonly isEmpty: boolean;
  /** The refusal that the store would repeat now; `undefined` if that is not certain. */
  refusal(caller: RefusedCaller): RateLimited | undefined;
  /** Of the store. `askedAtMs`: before the request was sent to it, by the monotonic clock. */
  note(caller: RefusedCaller, refused: RateLimited, askedAtMs: number): void;
}

/** As in the request to the store. */
export interface RefusedCaller extends CarriedFacts {
  readonly keyId: string;
  readonly tag?: Pick<RequestTag, 'name'> | undefined;
}
