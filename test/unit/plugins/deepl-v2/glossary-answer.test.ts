// UUIDs and ULIDs of glossaries are the same 128 bits: each has exactly one counterpart.
import * as fc from 'fast-check';
import { ulid } from 'ulid';
import { expect, test } from 'vitest';
import { ulidOf, uuidOf } from '../../../../src/plugins/deepl-v2/glossary-answer.ts';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

test('every UUID, in any case, becomes a canonical ULID, which becomes the same UUID', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 2n ** 128n - 1n }), (bits) => {
      const uuid = uuidOf(ulidOf(uuidFrom(bits))!);
      expect(uuid).toBe(uuidFrom(bits));
      expect(ulidOf(uuid)).toMatch(/^[0-7][0-9A-HJKMNP-TV-Z]{25}$/);
      expect(ulidOf(uuid.toUpperCase())).toBe(ulidOf(uuid));
    }),
  );
});

test('every ULID becomes a UUID, which becomes the same ULID, and ids keep their order', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 2 ** 48 - 1 }), fc.integer({ min: 0, max: 2 ** 48 - 1 }), (one, other) => {
      const [first, second] = [ulid(one), ulid(other)];
      expect(uuidOf(first)).toMatch(UUID);
      expect(ulidOf(uuidOf(first))).toBe(first);
      expect(uuidOf(first) < uuidOf(second)).toBe(first < second);
    }),
  );
});

test.each([
  ['00000000-0000-0000-0000-000000000000', '00000000000000000000000000'],
  ['ffffffff-ffff-ffff-ffff-ffffffffffff', '7ZZZZZZZZZZZZZZZZZZZZZZZZZ'],
])('%s is %s', (uuid, expected) => {
  expect(ulidOf(uuid)).toBe(expected);
  expect(uuidOf(expected)).toBe(uuid);
});

test.each([
  '',
  'invalid',
  '01ARZ3NDEKTSV4RRFFQ69G5FAV',
  'ffffffffffffffffffffffffffffffff',
  'g0000000-0000-0000-0000-000000000000',
  ' 00000000-0000-0000-0000-000000000000',
])('%j is not a UUID', (text) => {
  expect(ulidOf(text)).toBeUndefined();
});

function uuidFrom(bits: bigint): string {
  const hex = bits.toString(16).padStart(32, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
