// Every parser against an independent oracle: nearly valid input is where they would differ.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isAddressOrRange, formatNetworkAddress, parseNetworkAddress } from '../../../src/config/network-address.ts';
import { matchesKeyPattern, newKey } from '../../../src/domain/api-key.ts';
import { countCharacters } from '../../../src/domain/characters.ts';
import { credentialReader } from '../../../src/domain/api-key.ts';
import { readJsonBody } from '../../../src/domain/json-body.ts';
import { parseDuration } from '../../../src/domain/period.ts';
import { traceparentForward } from '../../../src/domain/request-trace.ts';
import { canonicalUlid } from '../../../src/domain/ulid.ts';
import { countedRuns } from './counted-runs.ts';
import { anyText, nearMisses } from './near-misses.ts';
import { durationOf, isKey, isStrictUtf8, keyInAuthorization, nameAndPort, traceOf, ulidOf } from './oracles.ts';

const RUNS = countedRuns('parsers of keys, ids, configuration and bodies', 1500);

const text = (alphabet: string, length: number): fc.Arbitrary<string> =>
  fc.string({ unit: fc.constantFrom(...Array.from(alphabet)), minLength: length, maxLength: length });
const HEX = '0123456789abcdef';
const ALPHANUMERIC = `${HEX}ghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ`;

describe('keys and credentials', () => {
  const keys = fc.tuple(fc.constantFrom('la_live_', 'la_test_'), text(ALPHANUMERIC, 40)).map((parts) => parts.join(''));
  const VENDORS = ['Vendor-Auth-Key', 'DeepL-Auth-Key'];
  const reader = credentialReader(VENDORS);

  test('the key pattern', () => {
    fc.assert(
      fc.property(nearMisses(keys), (value) => {
        expect(matchesKeyPattern(value)).toBe(isKey(value));
      }),
      RUNS,
    );
  });

  test('Authorization, in any scheme and case', () => {
    const scheme = fc.constantFrom('Bearer', 'bearer', 'BEARER', ...VENDORS, 'vendor-auth-key', 'DEEPL-AUTH-KEY', 'Basic', 'Digest');
    const values = fc.tuple(scheme, fc.constantFrom(' ', '  ', '\t', ''), keys).map((parts) => parts.join(''));
    fc.assert(
      fc.property(nearMisses(values), (authorization) => {
        const key = keyInAuthorization(authorization, VENDORS);
        // It decides alone, whatever it contains: the dedicated field beside it is ignored.
        const found = reader.read({ authorization, 'vendor-auth-key': newKey('live') });
        expect(found).toEqual(key === undefined ? { kind: 'malformed' } : { kind: 'key', key });
      }),
      RUNS,
    );
  });

  test('the dedicated fields', () => {
    fc.assert(
      fc.property(nearMisses(keys), fc.constantFrom('vendor-auth-key', 'deepl-auth-key', 'x-auth-key'), (value, name) => {
        const found = reader.read({ [name]: value });
        const expected = name === 'x-auth-key' ? { kind: 'missing' } : isKey(value) ? { kind: 'key', key: value } : { kind: 'malformed' };
        expect(found).toEqual(expected);
      }),
      RUNS,
    );
  });
});

describe('ids', () => {
  test('ULIDs', () => {
    const ulids = fc
      .tuple(text('01234567', 1), text('0123456789ABCDEFGHJKMNPQRSTVWXYZabcdefghjkmnpqrstvwxyz', 25))
      .map((parts) => parts.join(''));
    fc.assert(
      fc.property(nearMisses(ulids), (value) => {
        expect(canonicalUlid(value)).toBe(ulidOf(value));
      }),
      RUNS,
    );
  });

  test('traceparent', () => {
    const version = fc.oneof(fc.constant('00'), text(HEX, 2), fc.constant('ff'));
    const id = (length: number): fc.Arbitrary<string> => fc.oneof(text(HEX, length), fc.constant('0'.repeat(length)));
    const more = fc.constantFrom('', '', '-', '-more', 'x');
    const values = fc
      .tuple(version, id(32), id(16), text(HEX, 2), more)
      .map(([v, trace, parent, flags, rest]) => `${v}-${trace}-${parent}-${flags}${rest}`);
    fc.assert(
      fc.property(nearMisses(values), (value) => {
        const trace = traceOf(value);
        const forward = trace === undefined ? undefined : `00-${trace.trace}-span-0${trace.flags}`;
        expect(traceparentForward(value, () => 'span')).toBe(forward);
      }),
      RUNS,
    );
  });
});

describe('configuration', () => {
  const number = (max: number): fc.Arbitrary<string> => fc.integer({ min: 0, max }).map(String);

  test('durations', () => {
    const unit = (letter: string, max: number): fc.Arbitrary<string> =>
      fc.option(number(max), { nil: undefined }).map((n) => (n === undefined ? '' : n + letter));
    const date = fc.tuple(unit('Y', 9999), unit('M', 9999), unit('W', 9999), unit('D', 99_999)).map((parts) => parts.join(''));
    const time = fc.tuple(unit('H', 999_999), unit('M', 9_999_999), unit('S', 999_999_999)).map((parts) => parts.join(''));
    const durations = fc.tuple(date, time, fc.boolean()).map(([d, t, clock]) => `P${d}${clock ? `T${t}` : ''}`);
    fc.assert(
      fc.property(nearMisses(durations), (value) => {
        expect(parseDuration(value)).toEqual(durationOf(value));
      }),
      RUNS,
    );
  });

  const names = fc.oneof(fc.domain(), fc.ipV4(), fc.constantFrom('localhost', 'a', 'a_b', '0'));
  const ports = fc.oneof(number(65_535), number(99_999), fc.constant('007'), fc.constant(''));

  test('HOST:PORT', () => {
    const addresses = fc.tuple(names, ports).map((parts) => parts.join(':'));
    fc.assert(
      fc.property(nearMisses(addresses), (value) => {
        fc.pre(!value.startsWith('['));
        expect(parseNetworkAddress(value)).toEqual(nameAndPort(value));
      }),
      RUNS,
    );
  });

  test('[IPV6]:PORT, there and back', () => {
    fc.assert(
      fc.property(fc.ipV6(), fc.integer({ min: 0, max: 70_000 }), (host, port) => {
        const parsed = parseNetworkAddress(`[${host}]:${port}`);
        expect(parsed).toEqual(port > 65_535 ? undefined : { host, port });
        expect(parsed === undefined ? undefined : formatNetworkAddress(parsed)).toBe(port > 65_535 ? undefined : `[${host}]:${port}`);
      }),
      RUNS,
    );
  });

  test('addresses and ranges', () => {
    fc.assert(
      fc.property(fc.ipV4(), fc.ipV6(), fc.integer({ min: 0, max: 200 }), (v4, v6, bits) => {
        expect([v4, v6].every(isAddressOrRange)).toBe(true);
        expect([isAddressOrRange(`${v4}/${bits}`), isAddressOrRange(`${v6}/${bits}`)]).toEqual([bits <= 32, bits <= 128]);
        expect([`${v4}/`, `${v4}/-1`, `${v4}/8/8`, ` ${v4}`, `${v6}%eth0`].some(isAddressOrRange)).toBe(false);
      }),
      RUNS,
    );
  });
});

describe('bodies', () => {
  const body = (bytes: Uint8Array): ReturnType<typeof readJsonBody> => readJsonBody({ 'content-type': 'application/json' }, bytes, 1 << 20);

  test('bytes are UTF-8 or they are not', () => {
    const good = anyText.map((value) => Array.from(Buffer.from(value)));
    const bytes = fc.tuple(good, fc.array(fc.integer({ min: 0x7f, max: 0xff }), { maxLength: 4 }), fc.nat()).map(([valid, odd, at]) => {
      const place = at % (valid.length + 1);
      return Uint8Array.from([...valid.slice(0, place), ...odd, ...valid.slice(place)]);
    });
    fc.assert(
      fc.property(bytes, (some) => {
        fc.pre(some.length > 0);
        const read = body(some);
        const refusedForIt = read.kind === 'refused' && read.refusal.problem.detail === 'body: must be valid UTF-8.';
        expect(refusedForIt).toBe(!isStrictUtf8(some));
      }),
      RUNS,
    );
  });

  test('anything that JSON can express is returned as it was sent', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const written = JSON.stringify(value);
        expect(body(Buffer.from(written))).toEqual({ kind: 'value', value: JSON.parse(written) as unknown });
      }),
      RUNS,
    );
  });

  test('characters are code points', () => {
    fc.assert(
      fc.property(anyText, (value) => {
        expect(countCharacters(value)).toBe(Array.from(value).length);
      }),
      RUNS,
    );
  });
});
