// Access tokens: what was sealed comes out again, and nothing else opens.
import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { isToken, openToken, readToken, sealToken, secretNameAt, TOKEN_LIFE_MS, tokenKey } from '../../../src/domain/access-token.ts';
import { digestOf } from '../../../src/domain/api-key.ts';

const NOW_MS = Date.UTC(2026, 10, 23, 12);
const SECRET = new Uint8Array(32).fill(7);
const KEY = tokenKey(SECRET, 'test');
const DIGEST = digestOf('la_live_x');
const seal = (expiresAtMs = NOW_MS + TOKEN_LIFE_MS): string => sealToken(KEY, DIGEST, expiresAtMs, randomBytes);
const openedBy = (token: string, key = KEY): string | undefined => openToken(key, readToken(token, NOW_MS)!);

test('a token is printable, says when it expires, and opens to the digest', () => {
  const token = seal();
  expect(isToken(token)).toBe(true);
  expect(readToken(token, NOW_MS)).toMatchObject({ expiresAtMs: NOW_MS + TOKEN_LIFE_MS, secretName: secretNameAt(NOW_MS) });
  expect(openedBy(token)).toBe(DIGEST);
  expect(seal()).not.toBe(token);
});

test('no byte of it can be changed', () => {
  const token = seal();
  for (let at = 'la_token_'.length; at < token.length; at++) {
    const other = token[at] === 'A' ? 'B' : 'A';
    const read = readToken(token.slice(0, at) + other + token.slice(at + 1), NOW_MS);
    // With an altered expiry it may not even be read.
    expect([at, read && openToken(KEY, read)]).toEqual([at, undefined]);
  }
});

test('another secret, or the same for another purpose, does not open it', () => {
  const token = seal();
  expect(openedBy(token, tokenKey(new Uint8Array(32).fill(8), 'test'))).toBeUndefined();
  expect(openedBy(token, tokenKey(SECRET, 'tests'))).toBeUndefined();
});

test.each([
  [0, false],
  [1, true],
  [TOKEN_LIFE_MS, true],
  [TOKEN_LIFE_MS + 3_600_000, true],
  [TOKEN_LIFE_MS + 3_600_001, false],
])('one that expires in %i ms is read: %s', (leftMs, isRead) => {
  expect(readToken(seal(NOW_MS + leftMs), NOW_MS) !== undefined).toBe(isRead);
});

test('the secret is that of the day on which it was issued', () => {
  const midnightMs = Date.UTC(2026, 10, 24);
  const issuedMs = midnightMs - 1;
  const token = seal(issuedMs + TOKEN_LIFE_MS);
  expect(readToken(token, midnightMs + 1000)!.secretName).toBe(secretNameAt(issuedMs));
  expect(secretNameAt(issuedMs)).not.toBe(secretNameAt(midnightMs));
});

test.each([
  '',
  'la_token_',
  `la_live_${'x'.repeat(40)}`,
  `la_token_${'x'.repeat(87)}`,
  `la_token_${'x'.repeat(89)}`,
  `la_token_${'x'.repeat(87)}.`,
])('%j is no token', (value) => {
  expect([isToken(value), readToken(value, NOW_MS)]).toEqual([false, undefined]);
});
