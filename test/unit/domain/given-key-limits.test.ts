// Limits of a key as operators give them: what is accepted, the message for the rest, and that reported limits can be given back.
import { describe, expect, test } from 'vitest';
import { judgeLimits, parseRfc3339 } from '../../../src/domain/given-key-limits.ts';
import { limitsReport } from '../../../src/admin/reports.ts';
import type { GivenLimits } from '../../../src/domain/given-key-limits.ts';
import type { KeyLimits } from '../../../src/domain/key-limits.ts';

const NOW = Date.UTC(2026, 10, 22, 12);
/** Words that look like ranges, but are not. */
const NO_RANGES = `10.0.0.0/33 10.0.0/8 ::/129 fe80::1%eth0 fe80::1%1/64 example.com 10.0.0.0/08 10.0.0.0-10.0.0.9 010.0.0.1
  0x0a.0.0.1 10.1 167772161 10.0.0.1/-1 10.0.0.1/ 10.0.0.1/8/8 10.0.0.1/1e1 10.0.0.0/255.0.0.0 10.0.0.1:80 [::1]
  10.0.0.0/8,::1`.split(/\s+/);
const RANGES_MAX = Array.from({ length: 100 }, (_, i) => `10.0.${i}.0/24`);

describe('an RFC 3339 time', () => {
  test.each<[string, string]>([
    ['2027-01-31T18:00:00Z', '2027-01-31T18:00:00.000Z'],
    ['2027-01-31t18:00:00z', '2027-01-31T18:00:00.000Z'],
    ['2027-01-31T18:00:00.5Z', '2027-01-31T18:00:00.500Z'],
    ['2027-01-31T18:00:00.123999Z', '2027-01-31T18:00:00.123Z'],
    ['2027-01-31T18:00:00+05:30', '2027-01-31T12:30:00.000Z'],
    ['2027-01-31T18:00:00-08:00', '2027-02-01T02:00:00.000Z'],
    ['2028-02-29T00:00:00Z', '2028-02-29T00:00:00.000Z'],
    ['2027-01-31T18:00:00.1234567890123Z', '2027-01-31T18:00:00.123Z'],
    ['2027-01-31T18:00:00-00:00', '2027-01-31T18:00:00.000Z'],
    ['2027-06-30T23:59:60Z', '2027-07-01T00:00:00.000Z'],
    ['2027-06-30T23:59:60.25Z', '2027-07-01T00:00:00.250Z'],
    ['2027-06-30t15:59:60-08:00', '2027-07-01T00:00:00.000Z'],
    ['9999-12-31T23:59:59.999Z', '9999-12-31T23:59:59.999Z'],
  ])('%s', (text, utc) => {
    expect(new Date(parseRfc3339(text)!).toISOString()).toBe(utc);
  });

  test.each([
    '',
    '2027-01-31',
    '2027-01-31T18:00:00',
    '2027-01-31 18:00:00Z',
    '2027-01-31T18:00Z',
    '2027-1-31T18:00:00Z',
    '2027-02-29T00:00:00Z',
    '2027-04-31T00:00:00Z',
    '2027-13-01T00:00:00Z',
    '2027-01-00T00:00:00Z',
    '2027-01-31T24:00:00Z',
    '2027-01-31T18:60:00Z',
    '2027-01-31T18:00:61Z',
    '2027-06-30T18:00:60Z',
    '2027-06-29T23:59:60Z',
    '2027-06-30T23:59:60+01:00',
    '10000-01-01T00:00:00Z',
    ' 2027-01-31T18:00:00Z',
    '2027-01-31T18:00:00\u221205:00',
    '２０２７-01-31T18:00:00Z',
    '2027-01-31T18:00:00+24:00',
    '2027-01-31T18:00:00+0530',
    '2027-01-31T18:00:00.Z',
    '+02027-01-31T18:00:00Z',
    '2027-01-31T18:00:00Z\n',
    '1801504800',
  ])('is not %j', (text) => {
    expect(parseRfc3339(text)).toBeUndefined();
  });
});

describe('given limits', () => {
  test.each<[GivenLimits, KeyLimits]>([
    [{}, {}],
    [{ expires_at: '2026-11-22T12:00:00.001Z' }, { expiresAtMs: NOW + 1 }],
    [{ requests_per_second: 1 }, { requestsPerSecond: 1 }],
    [{ requests_per_second: 100_000 }, { requestsPerSecond: 100_000 }],
    [{ characters: 1_000_000_000_000 }, { characters: 1_000_000_000_000 }],
    [{ allowed_addresses: ['203.0.113.7'] }, { allowedAddresses: ['203.0.113.7/32'] }],
    [
      { allowed_addresses: ['10.1.2.3/8', '2001:DB8:0:0::/32', '::ffff:10.0.0.0/104', '2001:db8::1', '::ffff:0:0/96'] },
      { allowedAddresses: ['10.0.0.0/8', '2001:db8::/32', '2001:db8::1/128', '0.0.0.0/0'] },
    ],
    [{ scopes: ['usage:read', 'forward:a', 'usage:read'] }, { scopes: ['usage:read', 'forward:a'] }],
    [{ allowed_addresses: [...RANGES_MAX, '10.0.0.1/24'] }, { allowedAddresses: RANGES_MAX }],
  ])('%j', (given, limits) => {
    expect(judgeLimits(given, NOW)).toEqual({ limits });
  });

  const NO_TIME = 'is not an RFC 3339 time with a time zone, such as 2027-01-31T18:00:00Z';
  const NO_RATE = 'is not a whole number from 1 to 100000';
  const NO_CHARACTERS = 'is not a whole number from 1 to 1000000000000';
  const NO_RANGE = 'is not an address or a range such as 203.0.113.7, 10.0.0.0/8 or 2001:db8::/32';
  test.each<[GivenLimits, string, string, number?]>([
    [{ expires_at: 'tomorrow' }, 'expires_at', NO_TIME],
    ...['2027-02-29T00:00:00Z', '2027-01-31T24:00:00Z', '2027-01-31T18:00:60Z', '2027-01-31T18:00:00+24:00'].map(
      (value): [GivenLimits, string, string] => [
        { expires_at: value },
        'expires_at',
        'does not exist: there is no such day, time or offset',
      ],
    ),
    [{ expires_at: 1_900_000_000_000 }, 'expires_at', NO_TIME],
    [{ expires_at: '2026-11-22T12:00:00Z' }, 'expires_at', 'is in the past: it is 2026-11-22T12:00:00Z now'],
    [{ expires_at: '9999-12-31T23:59:59-01:00' }, 'expires_at', 'is later than 9999-12-31T23:59:59.999Z'],
    ...[0, -0, -1, 1.5, 100_001, Infinity, '5', ' 5', '1e3', '', true, NaN, [5], {}].map((value): [GivenLimits, string, string] => [
      { requests_per_second: value },
      'requests_per_second',
      NO_RATE,
    ]),
    ...[0, 1_000_000_000_001, '-1'].map((value): [GivenLimits, string, string] => [{ characters: value }, 'characters', NO_CHARACTERS]),
    [{ allowed_addresses: [] }, 'allowed_addresses', 'is empty, which would allow no address; give at least one'],
    [{ allowed_addresses: '10.0.0.0/8' }, 'allowed_addresses', 'is not a list of addresses and ranges'],
    ...[...NO_RANGES, ' 10.0.0.1', '10.0.0.1 ', '', 7, null, ['::1']].map((entry): [GivenLimits, string, string, number] => [
      { allowed_addresses: ['::1', entry] },
      'allowed_addresses',
      NO_RANGE,
      1,
    ]),
    [{ allowed_addresses: [...RANGES_MAX, '::1'] }, 'allowed_addresses', 'has more than 100 entries; join neighbours into ranges'],
    [
      { allowed_addresses: Array.from({ length: 1001 }, (_, i) => `10.${i >> 8}.${i & 255}.0/24`) },
      'allowed_addresses',
      'has more than 100 entries; join neighbours into ranges',
    ],
    [{ scopes: [] }, 'scopes', 'is empty, which would allow nothing; give at least one scope'],
    [{ scopes: 'usage:read' }, 'scopes', 'is not a list of scopes'],
    [
      { scopes: ['usage:read', 7] },
      'scopes',
      'is not a scope; scopes are translate:text, translate:document, languages:read, usage:read, glossaries:read, glossaries:write, and forward:NAME for forward routes of that name',
      1,
    ],
    [{ scopes: Array.from({ length: 101 }, (_, i) => `forward:${i}`) }, 'scopes', 'has more than 100 entries'],
    [{ characters: 0, requests_per_second: 0, allowed_addresses: [] }, 'requests_per_second', NO_RATE],
  ])('%j is refused', (given, name, fault, at) => {
    expect(judgeLimits(given, NOW)).toEqual({ name, fault, ...(at === undefined ? {} : { at }) });
  });

  test('reported limits can be given back', () => {
    const limits = { expiresAtMs: NOW + 1500, requestsPerSecond: 3, characters: 9, allowedAddresses: ['10.0.0.0/8', '::1/128'] };
    expect(judgeLimits(limitsReport(limits), NOW)).toEqual({ limits });
    expect(limitsReport({})).toEqual({});
  });
});
