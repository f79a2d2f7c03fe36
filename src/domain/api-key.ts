// API keys: their pattern, their digest, and how new ones are generated.
import { hash, randomBytes } from 'node:crypto';

export type KeyMode = 'live' | 'test';

/** A key digest: SHA-256 of the whole key, base64url. The only form in which a key is stored or cached. */
export type KeyDigest = string;

/** The owner of a key: the part of its record that never changes. */
export interface KeyOwner {
  readonly keyId: string;
  readonly teamId: string;
  readonly mode: KeyMode;
  /**
   * A hint in this process's cache: the store needs the client address of requests with this key, so it is sent with each one.
   * May outlive the limit; if it is missing, the store asks for the address.
   */
  readonly addressWanted?: boolean;
}

const PATTERN = /^la_(?:live|test)_[A-Za-z0-9]{40}$/;
const DISPLAY = /^la_(?:live|test)_[A-Za-z0-9]{4}$/;
/** More of a key than may be displayed, anywhere in a text. Short enough to also catch a truncated or mistyped key. */
const HELD = /la_(?:live|test)_[A-Za-z0-9]{16}/i;
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
const RANDOM_LENGTH = 40;
const DISPLAY_LENGTH = 12;

/** Interface, Authentication, rule 5. A match does not mean that the key exists. */
export function matchesKeyPattern(value: string): boolean {
  return PATTERN.test(value);
}

/** Whether it looks like the displayable part of a key. */
export function matchesDisplay(value: string): boolean {
  return DISPLAY.test(value);
}

/** Whether a text contains a key, or most of one, and so must never be echoed. */
export function holdsKey(text: string): boolean {
  return HELD.test(text);
}

export function digestOf(key: string): KeyDigest {
  return hash('sha256', key, 'base64url');
}

/** The displayable part of a key: its first twelve characters. */
export function displayOf(key: string): string {
  return key.slice(0, DISPLAY_LENGTH);
}

/** Generates a key. `random` returns uniformly distributed bytes. */
export function newKey(mode: KeyMode, random: (size: number) => Uint8Array = randomBytes): string {
  let rest = '';
  while (rest.length < RANDOM_LENGTH) {
    for (const byte of random(RANDOM_LENGTH)) {
      // 248 is the largest multiple of 62 below 256: larger bytes would favour the first letters of the alphabet.
      if (byte < 248 && rest.length < RANDOM_LENGTH) rest += ALPHABET[byte % ALPHABET.length];
    }
  }
  return `la_${mode}_${rest}`;
}
