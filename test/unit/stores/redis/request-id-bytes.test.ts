// Request ids as bytes: a ULID's 128 bits, and different bytes for different ids.
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { writeRequestId } from '../../../../src/stores/redis/request-id-bytes.ts';

const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'.split('');
const ulids = fc
  .tuple(fc.constantFrom(...ALPHABET.slice(0, 8)), fc.array(fc.constantFrom(...ALPHABET), { minLength: 25, maxLength: 25 }))
  .map(([first, rest]) => first + rest.join(''));

function bytesOf(id: string): Buffer {
  const into = Buffer.alloc(300);
  const end = writeRequestId(into, 0, id);
  expect(into[0]).toBe(end - 1);
  return into.subarray(1, end);
}

test('a ULID becomes its 128 bits, the highest first', () => {
  fc.assert(
    fc.property(ulids, (id) => {
      const value = id.split('').reduce((sum, digit) => sum * 32n + BigInt(ALPHABET.indexOf(digit)), 0n);
      expect(bytesOf(id).toString('hex')).toBe(value.toString(16).padStart(32, '0'));
    }),
  );
});

test('different ids of any form have different bytes', () => {
  const others = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 40 }),
    ulids.map((id) => id.toLowerCase()),
    ulids.map((id) => `8${id.slice(1)}`),
  );
  fc.assert(
    fc.property(fc.oneof(ulids, others), fc.oneof(ulids, others), (a, b) => {
      // Half a surrogate pair is not valid text, and is encoded as the replacement character.
      fc.pre(a !== b && a.isWellFormed() && b.isWellFormed());
      expect(bytesOf(a).equals(bytesOf(b))).toBe(false);
    }),
  );
});

test('an id that is not a ULID never has sixteen bytes', () => {
  for (let length = 0; length <= 30; length++) expect(bytesOf('x'.repeat(length))).not.toHaveLength(16);
});

test('an id that is too long for its length prefix is refused', () => {
  expect(() => bytesOf('x'.repeat(255))).toThrow('at most 253');
});
