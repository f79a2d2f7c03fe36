// Finds the key in a request's fields: three header forms and their precedence (interface, Authentication, rules 3 and 4).
import { matchesKeyPattern } from './api-key.ts';

export type Credential =
  | { readonly kind: 'key'; readonly key: string }
  | { readonly kind: 'missing' }
  /** Something was sent, but it is not a key in an accepted form. */
  | { readonly kind: 'malformed' };

const ASCII = /^[!-~]+$/;
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
  if (!ASCII.test(scheme) || !schemes.has(scheme.toLowerCase())) return MALFORMED;
  // RFC 9110 section 11.4 allows several spaces after the scheme, and no other white space.
  let start = space + 1;
  while (value.charCodeAt(start) === SPACE) start++;
  return fromValue(value.slice(start));
}

function fromValue(value: string): Credential {
  return matchesKeyPattern(value) ? { kind: 'key', key: value } : MALFORMED;
}
