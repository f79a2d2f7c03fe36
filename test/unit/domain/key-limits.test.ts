// Limits of keys: ranges have one canonical form, and contain the right addresses.
import fc from 'fast-check';
import { BlockList, isIP } from 'node:net';
import { describe, expect, test } from 'vitest';
import { allowsAddress, canonicalRange, changedLimits, hasLimits } from '../../../src/domain/key-limits.ts';

describe('a range', () => {
  test.each([
    ['10.1.2.3/8', '10.0.0.0/8'],
    ['10.1.2.3', '10.1.2.3/32'],
    ['0.0.0.0/0', '0.0.0.0/0'],
    ['::ffff:10.0.0.1/104', '10.0.0.0/8'],
    ['::ffff:a00:1', '10.0.0.1/32'],
    ['2001:DB8:0:0::1/32', '2001:db8::/32'],
    ['2001:db8:0:0:1:0:0:1', '2001:db8::1:0:0:1/128'],
    ['2001:db8::1.2.3.4/127', '2001:db8::102:304/127'],
    ['::/0', '::/0'],
    ['::1', '::1/128'],
  ])('%s is kept as %s', (text, retained) => {
    expect(canonicalRange(text)).toBe(retained);
    expect(canonicalRange(retained)).toBe(retained);
  });

  test.each([
    '',
    '/8',
    '10.0.0.0/',
    '10.0.0/8',
    '1.2.3.4/33',
    '1.2.3.4/08',
    '1.2.3.4/-1',
    '1.2.3.4/8/8',
    '2001:db8::/129',
    '1::2::3',
    'fe80::1%1',
    'x',
  ])('%j is not valid', (text) => expect(canonicalRange(text)).toBeUndefined());
});

test('an IPv4-mapped IPv6 address is that IPv4 address, and in no other IPv6 range', () => {
  expect(allowsAddress(['10.0.0.0/8'], '::ffff:10.9.9.9')).toBe(true);
  expect(allowsAddress(['::ffff:10.0.0.0/104'], '10.9.9.9')).toBe(true);
  expect(allowsAddress(['::/0'], '10.9.9.9')).toBe(false);
  expect(allowsAddress(['0.0.0.0/0'], '::1')).toBe(false);
  expect(allowsAddress(['0.0.0.0/0', '::/0'], '')).toBe(false);
  expect(allowsAddress(['203.0.113.7/32', '2001:db8::/33'], '2001:db8:7fff::1')).toBe(true);
  expect(allowsAddress(['203.0.113.7/32', '2001:db8::/33'], '2001:db8:8000::1')).toBe(false);
});

/** Addresses that differ in the last bits, in the first ones or not at all. */
const four = fc.tuple(...Array.from({ length: 4 }, () => fc.constantFrom(0, 1, 127, 128, 255))).map((bytes) => bytes.join('.'));
const six = fc
  .tuple(...Array.from({ length: 8 }, () => fc.constantFrom('2001', '0', '1', 'ffff', '8000')))
  .map((groups) => groups.join(':'));
const mapped = fc.tuple(fc.constantFrom('0', '1', 'ffff'), fc.constantFrom('0', '1', 'ffff')).map(([a, b]) => `0:0:0:0:0:ffff:${a}:${b}`);

test("the result is the same as with Node's own BlockList, except for IPv4-mapped addresses in wider IPv6 ranges", () => {
  const of = (address: fc.Arbitrary<string>, bits: number) => fc.tuple(address, address, fc.integer({ min: 0, max: bits }));
  fc.assert(
    fc.property(
      fc.oneof(of(four, 32), of(fc.oneof({ weight: 3, arbitrary: six }, { weight: 1, arbitrary: mapped }), 128)),
      ([start, address, bits]) => {
        const family = isIP(start) === 4 ? 'ipv4' : 'ipv6';
        const list = new BlockList();
        list.addSubnet(start, bits, family);
        for (const one of [start, address]) {
          const range = canonicalRange(`${start}/${bits}`)!;
          // Node takes it for an IPv6 address there.
          const expected = one.startsWith('0:0:0:0:0:ffff:') && bits < 96 ? false : list.check(one, family);
          expect([range, one, allowsAddress([range], one)]).toEqual([range, one, expected]);
        }
      },
    ),
    { numRuns: 1000 },
  );
});

test('a change of limits keeps what it does not name, and removes what is null', () => {
  const limits = { expiresAtMs: 1, requestsPerSecond: 2 };
  expect(changedLimits(limits, { requestsPerSecond: null, characters: 3 })).toEqual({ expiresAtMs: 1, characters: 3 });
  expect(changedLimits(limits, {})).toEqual(limits);
  expect(hasLimits(changedLimits(limits, { requestsPerSecond: null, expiresAtMs: null }))).toBe(false);
});
