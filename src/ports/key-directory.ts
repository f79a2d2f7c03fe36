// Which team a key belongs to: the part of a key's record that never changes and may be cached.
import type { KeyDigest, KeyOwner } from '../domain/api-key.ts';
import type { StoreUnavailable } from '../domain/store-unavailable.ts';

export type { KeyOwner } from '../domain/api-key.ts';

export interface KeyDirectory {
  /** `undefined` when no key has this digest. Says nothing of revocation: that is the admission's to judge. */
  find(digest: KeyDigest): KeyOwner | undefined | StoreUnavailable | Promise<KeyOwner | undefined | StoreUnavailable>;
}

/** `hit`: the cache had an owner. `unknown_hit`: it knew that nobody has the key. `miss`: the store was asked. `refused`: too many. */
export type KeyLookup = 'hit' | 'unknown_hit' | 'miss' | 'refused';

/**
 * A key directory with a cache in front. It keeps owners, which never change but for the hint `addressWanted`; all else of a key is
 * judged by the admission.
 */
export interface KeyCache extends KeyDirectory {
  /** What is remembered, without asking anyone: an owner, `unknown` (for a moment), or nothing. */
  peek(digest: KeyDigest): KeyOwner | 'unknown' | undefined;
  /** The store asks for the address of whoever uses this key: from now on its owner says so, if it is remembered. */
  noteAddressWanted(digest: KeyDigest): void;
  /** Drops an owner: the store has no such key any more. */
  forget(digest: KeyDigest): void;
}

/** Limits the unknown keys that are looked up for one address. Addresses are IP addresses in their shortest form. */
export interface UnknownKeyLimit {
  /** Whether no more keys that the cache does not know may be looked up for it. */
  reached(address: string): boolean;
  /** Counts a key of this address that nobody has. */
  add(address: string): void;
}
