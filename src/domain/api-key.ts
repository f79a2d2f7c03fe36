// API keys: their pattern, their digest, how they are generated, and how requests carry them.
import { hash, randomBytes } from 'node:crypto';

export type KeyMode = 'live' | 'test';

/** SHA-256 of the whole key, base64url: the only form in which a key is stored or cached. */
export type KeyDigest = string;

/** The owner of a key: the part of its record that never changes. */
export interface KeyOwner {
  readonly keyId: string;
  readonly teamId: string;
  readonly mode: KeyMode;
  /**
   * A hint in this process's cache: the store needs the client address of requests with this key.
   * May outlive the limit; if it is missing, the store asks.
   */
  readonly addressRequired?: boolean;
  /** The same for the scope of the route. */
  readonly scopeRequired?: boolean;
}

const PATTERN = /^la_(?:live|test)_[A-Za-z0-9]{40}$/;
const DISPLAY = /^la_(?:live|test)_[A-Za-z0-9]{4}$/;
/** More of a key than may be displayed, anywhere in a text; also of a truncated or mistyped one. */
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
      // The largest multiple of 62 below 256: larger bytes would favour the alphabet's first
      // letters.
      if (byte < 248 && rest.length < RANDOM_LENGTH) rest += ALPHABET[byte % ALPHABET.length];
    }
  }
  return `la_${mode}_${rest}`;
}

/** What a request's fields say about its caller (interface, Authentication, rules 3 and 4). */
export type Credential =
  | { readonly kind: 'key'; readonly key: string }
  | { readonly kind: 'missing' }
  /** Something was sent, but it is not a key in an accepted form. */
  | { readonly kind: 'malformed' };

const ASCII_WORD = /^[!-~]+$/;
const SPACE = 0x20;

const MISSING: Credential = { kind: 'missing' };
const MALFORMED: Credential = { kind: 'malformed' };

export interface CredentialReader {
  /** Lower-case names of the fields that it reads. */
  readonly headers: readonly string[];
  read(headers: Readonly<Record<string, string>>): Credential;
}

/** `vendorNames` are accepted both as an `Authorization` scheme and as a header field. */
export function credentialReader(vendorNames: readonly string[]): CredentialReader {
  const schemes = new Set(['bearer', ...vendorNames.map((name) => name.toLowerCase())]);
  const dedicated = vendorNames.map((name) => name.toLowerCase());
  return {
    headers: ['authorization', ...dedicated],
    read(headers) {
      const authorization = headers['authorization'];
      // If `Authorization` is present, whatever its scheme, the vendors' own fields are ignored.
      if (authorization !== undefined) return fromAuthorization(authorization, schemes);
      for (const name of dedicated) {
        const value = headers[name];
        if (value !== undefined) return fromValue(value);
      }
      return MISSING;
    },
  };
}

function fromAuthorization(value: string, schemes: ReadonlySet<string>): Credential {
  const space = value.indexOf(' ');
  if (space === -1) return MALFORMED;
  const scheme = value.slice(0, space);
  // Unicode lowercasing alone would map the Kelvin sign to k.
  if (!ASCII_WORD.test(scheme) || !schemes.has(scheme.toLowerCase())) return MALFORMED;
  // RFC 9110 section 11.4 allows several spaces after the scheme, and no other white space.
  let start = space + 1;
  while (value.charCodeAt(start) === SPACE) start++;
  return fromValue(value.slice(start));
}

/** Everything behind the scheme of an `Authorization` field, or a vendor's whole field. */
function fromValue(value: string): Credential {
  return PATTERN.test(value) ? { kind: 'key', key: value } : MALFORMED;
}

/** The hints of a cached key's owner. */
export type RequiredFact = 'addressRequired' | 'scopeRequired';

/** As in the request to the store: absent if the key is not known to need it. */
export interface CarriedFacts {
  readonly address?: string | undefined;
  readonly scope?: string | undefined;
}
