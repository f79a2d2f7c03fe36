// API keys, and how they are sent.
import { describe, expect, test } from 'vitest';
import { digestOf, displayOf, holdsKey, matchesDisplay, matchesKeyPattern, newKey } from '../../../src/domain/api-key.ts';
import { credentialReader } from '../../../src/domain/api-key.ts';

const KEY = `la_live_${'Ab3d'.repeat(10)}`;

describe('keys', () => {
  test('a new key matches the pattern, names its mode, and is never drawn twice', () => {
    const keys = Array.from({ length: 500 }, (_, i) => newKey(i % 2 === 0 ? 'live' : 'test'));
    expect(keys.every((key) => matchesKeyPattern(key))).toBe(true);
    expect(keys[0]).toMatch(/^la_live_/);
    expect(keys[1]).toMatch(/^la_test_/);
    expect(new Set(keys).size).toBe(500);
  });

  test('the characters of new keys are evenly distributed', () => {
    const counts = new Map<string, number>();
    const total = 2000 * 40;
    for (let i = 0; i < 2000; i++) for (const c of newKey('live').slice(8)) counts.set(c, (counts.get(c) ?? 0) + 1);
    const expected = total / 62;
    let chiSquare = 0;
    for (const count of counts.values()) chiSquare += (count - expected) ** 2 / expected;
    expect(counts.size).toBe(62);
    // 61 degrees of freedom: a fair draw exceeds 140 less than once in ten million runs; modulo bias gives over 1,000.
    expect(chiSquare).toBeLessThan(140);
  });

  test.each([
    KEY.slice(0, -1),
    `${KEY}x`,
    KEY.replace('live', 'prod'),
    KEY.replace('la_', 'LA_'),
    ` ${KEY}`,
    `${KEY}\n`,
    KEY.replace('A', 'é'),
    KEY.replace('A', '_'),
    '',
  ])('%j does not match the pattern', (value) => {
    expect(matchesKeyPattern(value)).toBe(false);
  });

  test('only the first twelve characters are shown, and the digest is not the key', () => {
    expect(displayOf(KEY)).toBe('la_live_Ab3d');
    expect(digestOf(KEY)).toMatch(/^[A-Za-z0-9_-]{43}$/);
  });
});

describe('credentials', () => {
  const reader = credentialReader(['Vendor-Auth-Key', 'DeepL-Auth-Key']);
  const key = { kind: 'key', key: KEY };

  test.each([
    ['bearer', { authorization: `Bearer ${KEY}` }, key],
    ['bearer in any case', { authorization: `bEARER ${KEY}` }, key],
    ['more than one space after the scheme', { authorization: `Bearer   ${KEY}` }, key],
    ['a vendor scheme', { authorization: `Vendor-Auth-Key ${KEY}` }, key],
    ['a vendor scheme in another case', { authorization: `deepl-auth-key ${KEY}` }, key],
    ['the dedicated field', { 'vendor-auth-key': KEY }, key],
    ['the other dedicated field', { 'deepl-auth-key': KEY }, key],
    ['both: Authorization decides', { authorization: `Bearer ${KEY}`, 'vendor-auth-key': 'nonsense' }, key],
    ['nothing', {}, { kind: 'missing' }],
    ['both, Authorization malformed: no fallback', { authorization: 'Bearer x', 'vendor-auth-key': KEY }, { kind: 'malformed' }],
    ['an unknown scheme: no fallback', { authorization: `Basic ${KEY}`, 'vendor-auth-key': KEY }, { kind: 'malformed' }],
    ['an empty Authorization: no fallback', { authorization: '', 'vendor-auth-key': KEY }, { kind: 'malformed' }],
    ['the key without a scheme', { authorization: KEY }, { kind: 'malformed' }],
    ['two Authorization fields', { authorization: `Bearer ${KEY}, Bearer ${KEY}` }, { kind: 'malformed' }],
    ['a scheme in the dedicated field', { 'vendor-auth-key': `Bearer ${KEY}` }, { kind: 'malformed' }],
  ])('%s', (_name, headers, expected) => {
    expect(reader.read(headers as Record<string, string>)).toEqual(expected);
  });
});

test.each([
  ['la_live_Ab3d', true],
  ['la_test_0000', true],
  ['la_live_Ab3', false],
  ['la_live_Ab3dE', false],
  ['LA_LIVE_Ab3d', false],
  ['la_live_Ab3-', false],
  [' la_live_Ab3d', false],
  ['', false],
])('%j is the displayed part of a key: %s', (text, is) => {
  expect(matchesDisplay(text)).toBe(is);
});

const LEAKED = `la_live_${'Ab3d'.repeat(10)}`;
test.each([
  ['a key', LEAKED, true],
  ['one in a text', `the key "${LEAKED}".`, true],
  ['one in a URL', `https://x/?q=${LEAKED}&y`, true],
  ['a truncated one', LEAKED.slice(0, 30), true],
  ['one in capitals', LEAKED.toUpperCase(), true],
  ['two of them', LEAKED + LEAKED, true],
  ['the displayed part of one', LEAKED.slice(0, 12), false],
  ['a name that looks like one', 'la_live_backend', false],
  ['an id', '01JD3Q7V6Y8Z0XKQ4T5N2M9HRC', false],
])('%s contains a key: %s %s', (_what, text, is) => {
  expect(holdsKey(text)).toBe(is);
});
