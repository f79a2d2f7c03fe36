// Paths that an upstream could read as others are refused, however they are escaped; all others are accepted.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isPlainPath } from '../../../src/core/router.ts';
import { draws } from '../../support/seed.ts';

const words = (text: string): string[] => text.trim().split(/\s+/);

test.each([
  ...words('x /a//b /a/ / /a/./b /a/../b /a/.. /. /.. /a/..;/b /a/.;/b /..;x=1/a /;/a /a/;x=1 /a\\b /a?b /a#b /a%zz /a% /a%2'),
  // Escaped.
  ...words('/%2e/a /%2E%2e/a /a%2fb /a%5Cb /a%00 /a%1f /a%7F /a/..%3b/b /a/..%3Bx/b /a/.%3b/b /a/%3b/b'),
  // Escaped again.
  ...words(`/%252e%252e/a /a%252fb /a%255cb /%25252e/a /a%2500 /%25%32%65/a /%252%65/a /%25%32e/a /%%32%65/a /a%25%32%66 /a%25%35%63
    /a/..%253b/b /%2525252525252e/a /%25252525252525252541`),
  // Overlong.
  ...words('/%c0%ae/a /%C1%9C /%e0%80%ae/a /%e0%9f%bf /%f0%80%80%ae/a /%f0%82%82%ac /%f8%80%80%80%ae /%fc%80 /%25c0%25ae/a'),
  '/%25e0%2580%25ae',
])('%s is refused', (path) => expect(isPlainPath(path)).toBe(false));

test.each(
  words(`/a /a/b.c /a/... /a/.hidden /a..;b /a/...;x /a;b=1 /a/%20b /a/%C3%A9 /%e0%a4%85 /%f0%9f%98%80 /a%2Bb /100%25 /100%25/b /a%2520b
    /a%253Ab /a%2525 /caf%e9 /%ff /x%3By=1 /~x`),
)('%s is accepted', (path) => expect(isPlainPath(path)).toBe(true));

test('an accepted path has the same segments after decoding, whatever is escaped in it, once or twice', () => {
  const escape = (character: string): string => `%${character.charCodeAt(0).toString(16).padStart(2, '0')}`;
  const piece = fc.constantFrom('.', '..', '/', '\\', ';', 'a', '%', '2', 'e', 'f', '5', 'c');
  const written = fc.array(
    fc.tuple(piece, fc.integer({ min: 0, max: 2 })).map(([text, times]) => {
      let made: string = text;
      for (let i = 0; i < times; i++) made = Array.from(made, escape).join('');
      return made;
    }),
    { minLength: 1, maxLength: 12 },
  );
  fc.assert(
    fc.property(written, (parts) => {
      const path = `/${parts.join('')}`;
      if (!isPlainPath(path)) return;
      let decoded = path;
      for (let i = 0; i < 3; i++) {
        decoded = decoded.replace(/%([0-9a-f]{2})/gi, (_all, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
        expect(decoded.split('/').length).toBe(path.split('/').length);
        expect(decoded).not.toContain('\\');
        expect(decoded.split('/').slice(1)).not.toContainEqual(expect.stringMatching(/^\.{0,2}(?:;|$)/));
      }
    }),
    { numRuns: draws(500) },
  );
});

test('sixteen kibibytes of escapes are checked quickly', () => {
  const startedAt = process.cpuUsage();
  for (const unit of ['%25', '%252', '/a%25', '%2541', ';', '/;']) isPlainPath(`/a${unit.repeat(16_384 / unit.length)}`);
  expect(process.cpuUsage(startedAt).user).toBeLessThan(500_000);
});
