// Limits of a key as operators give them: what is refused, in which member, and that reported limits can be given back.
import { describe, expect, test } from 'vitest';
import { checked } from '../../../src/admin/input.ts';
import { createKey } from '../../../src/admin/operations/keys.ts';
import { limitsReport } from '../../../src/admin/operations/key-rows.ts';

const NOW = Date.UTC(2026, 10, 22, 12);
/** Words that look like ranges, but are not. */
const NO_RANGES = `10.0.0.0/33 10.0.0/8 ::/129 fe80::1%eth0 fe80::1%1/64 example.com 10.0.0.0/08 10.0.0.0-10.0.0.9 010.0.0.1
  0x0a.0.0.1 10.1 167772161 10.0.0.1/-1 10.0.0.1/ 10.0.0.1/8/8 10.0.0.1/1e1 10.0.0.0/255.0.0.0 10.0.0.1:80 [::1]
  10.0.0.0/8,::1`.split(/\s+/);
const given = (members: object) => checked(createKey, { id: '01JD3Q7V6Y8Z0XKQ4T5N2M9HRC', mode: 'live', ...members }, NOW);

describe('limits that are refused', () => {
  test.each<[string, readonly unknown[], string?]>([
    ['expires_at', ['tomorrow', '2027-02-29T00:00:00Z', 1_900_000_000_000, '2026-11-22T12:00:00Z', '9999-12-31T23:59:59-01:00']],
    ['requests_per_second', [0, -0, -1, 1.5, 100_001, Infinity, '5', ' 5', '1e3', '', true, NaN, [5], {}]],
    ['characters', [0, 1_000_000_000_001, '-1']],
    ['allowed_addresses', [[], '10.0.0.0/8', Array.from({ length: 101 }, (_, i) => `10.0.${i}.0/24`)]],
    ['allowed_addresses.1', [...NO_RANGES, ' 10.0.0.1', '10.0.0.1 ', '', 7, null, ['::1']].map((entry) => ['::1', entry])],
    ['scopes', [[], 'usage:read', Array.from({ length: 101 }, (_, i) => `forward:${i}`)]],
    [
      'scopes.1',
      [
        ['usage:read', 7],
        ['usage:read', 'usage:write'],
      ],
    ],
    [
      'limits',
      [
        [],
        [
          { per: 'day', requests: 1 },
          { per: 'day', requests: 2 },
        ],
        Array.from({ length: 7 }, () => ({ per: 'day', requests: 1 })),
      ],
    ],
    ['limits.0.per', [[{ per: 'year', requests: 5 }]]],
    ['limits.0', [[{ per: 'day' }]]],
  ])('%s', (field, values) => {
    const [member = ''] = field.split('.');
    for (const value of values) expect([value, given({ [member]: value })]).toMatchObject([value, { kind: 'refused', field }]);
  });

  test('all of them are named', () => {
    const refusal = given({ characters: 0, requests_per_second: 0, allowed_addresses: [] });
    expect(refusal).toMatchObject({ field: 'requests_per_second', more: [{ field: 'characters' }, { field: 'allowed_addresses' }] });
  });
});

test('reported limits can be given back', () => {
  const limits = { expiresAtMs: NOW + 1500, requestsPerSecond: 3, characters: 9, allowedAddresses: ['10.0.0.0/8', '::1/128'] };
  expect(given(limitsReport({ ...limits, windows: 'requests=600/minute' }))).toHaveProperty('input');
  expect(limitsReport({})).toEqual({});
});
