// Access tokens that stand for a key for ten minutes: how they are sealed and opened, and what plugins get of it.
import type { Exchange } from '../core/exchange.ts';
import type { Refusal } from '../core/outcome.ts';
import type { KeyDigest } from '../domain/api-key.ts';
import type { StoreUnavailable } from '../domain/store-unavailable.ts';

export interface TokenSealer {
  /** A token for the key with this digest. */
  seal(digest: KeyDigest): Promise<string | StoreUnavailable>;
  /**
   * The digest of the key that a token stands for; `undefined` if it is malformed, altered, expired, or of another store or purpose.
   * A promise only while this process does not have the secret yet.
   */
  open(token: string): KeyDigest | undefined | StoreUnavailable | Promise<KeyDigest | undefined | StoreUnavailable>;
}

/** The access tokens of one API. */
export interface AccessTokens {
  /** Whether a value has the form of a token, so that it can be none of our keys. */
  isToken(value: string): boolean;
  /** A token for the key of a request that was authenticated: it stands for that key for ten minutes. Nothing of it is kept. */
  issue(x: Exchange): Promise<string | Refusal>;
  /**
   * Does what `identify` does with a key, with the key that the token stands for; `refusal` is for a token that is not good (any
   * more). A promise only while the secret has to be read from the store.
   */
  identify(x: Exchange, token: string, refusal: Refusal): Refusal | undefined | Promise<Refusal | undefined>;
}
