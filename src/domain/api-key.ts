// API keys: their pattern, their digest, and how new ones are drawn.
import { hash, randomBytes } from 'node:crypto';

export type KeyMode = 'live' | 'test';

/** A key digest: SHA-256 of the whole key, base64url. The only form in which a key is stored or cached. */
export type KeyDigest = string;

/** Who a key belongs to: the part of its record that never changes. */
export interface KeyOwner {
  readonly keyId: string;
  readonly teamId: string;
  readonly mode: KeyMode;
  /**
   * A hint of this process's cache: the store has asked for the address of whoever uses the key, so it is sent along. It may
   * outlive the key's limit; without it the store asks.
   */
  readonly addressWanted?: boolean;
}

const PATTERN = /^la_(?:live|test)_[A-Za-z0-9]{40}$/;
const DISPLAY = /^la_(?:live|test)_[A-Za-z0-9]{4}$/;
/** More of a key than may be shown, in whatever stands around it; short enough that a part of a key, and a mistyped one, is found too. */
const HELD = /la_(?:live|test)_[A-Za-z0-9]{16}/i;
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
const RANDOM_LENGTH = 40;
const DISPLAY_LENGTH = 12;

/** Interface, Authentication, rule 5. Says nothing about whether the key exists. */
export function matchesKeyPattern(value: string): boolean {
  return PATTERN.test(value);
}

/** Whether it looks like the part of a key that may be shown. */
export function matchesDisplay(value: string): boolean {
  return DISPLAY.test(value);
}

/** Whether a key, or most of one, stands in a text: it must not be repeated to anyone. */
export function holdsKey(text: string): boolean {
  return HELD.test(text);
}

export function digestOf(key: string): KeyDigest {
  return hash('sha256', key, 'base64url');
}

/** The part of a key that may be shown again: its first twelve characters. */
export function displayOf(key: string): string {
  return key.slice(0, DISPLAY_LENGTH);
}

/** Draws a key. `random` gives uniformly distributed bytes. */
export function newKey(mode: KeyMode, random: (size: number) => Uint8Array = randomBytes): string {
  let rest = '';
  while (rest.length < RANDOM_LENGTH) {
    for (const byte of random(RANDOM_LENGTH)) {
      // 248 is the largest multiple of 62 below 256: bytes above it would favour the alphabet's first letters.
      if (byte < 248 && rest.length < RANDOM_LENGTH) rest += ALPHABET[byte % ALPHABET.length];
    }
  }
  return `la_${mode}_${rest}`;
}
