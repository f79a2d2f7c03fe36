// Which team a key belongs to: the part of a key's record that never changes and may be cached.
import type { KeyDigest, KeyOwner } from '../domain/api-key.ts';
import type { StoreUnavailable } from '../domain/store-unavailable.ts';

export type { KeyOwner } from '../domain/api-key.ts';

export interface KeyDirectory {
  /** `undefined` when no key has this digest. Says nothing of revocation: that is the admission's to judge. */
  find(digest: KeyDigest): KeyOwner | undefined | StoreUnavailable | Promise<KeyOwner | undefined | StoreUnavailable>;
}

/** Who answered a look-up: the cache, with an owner or that nobody has the key; the store; nobody, with too many at once. */
export type KeyLookup = 'hit' | 'unknown_hit' | 'miss' | 'refused';

/** A directory with a memory in front. It remembers owners, which never change; revocation is judged elsewhere. */
export interface KeyCache extends KeyDirectory {
  /** What is remembered, without asking anyone: an owner, `unknown` (for a moment), or nothing. */
  peek(digest: KeyDigest): KeyOwner | 'unknown' | undefined;
  /** For an owner that turned out to be gone. */
  forget(digest: KeyDigest): void;
}

/** What keeps one address from having ever more unknown keys looked up. Addresses are IP addresses in their shortest form. */
export interface UnknownKeyLimit {
  /** Whether a key that the cache does not know is not to be looked up for it. */
  reached(address: string): boolean;
  /** It sent a key that is nobody's. */
  add(address: string): void;
}
