// Which team a key belongs to: the part of a key's record that never changes and may be cached.
import type { KeyDigest, KeyMode } from '../domain/api-key.ts';

export interface KeyOwner {
  readonly keyId: string;
  readonly teamId: string;
  readonly mode: KeyMode;
}

/** The store cannot be reached or took too long. `cause` is a short word for logs, never for callers. */
export interface StoreUnavailable {
  readonly kind: 'unavailable';
  readonly cause: string;
}

export interface KeyDirectory {
  /** `undefined` when no key has this digest. Says nothing of revocation: that is the admission's to judge. */
  find(digest: KeyDigest): KeyOwner | undefined | StoreUnavailable | Promise<KeyOwner | undefined | StoreUnavailable>;
}
