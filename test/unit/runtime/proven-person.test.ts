// From claims to a person: groups in the forms that providers send, and a name that is safe in the audit.
import { expect, test } from 'vitest';
import { personOf } from '../../../src/runtime/oidc-provider.ts';

const CLAIMS = { iss: 'https://id.example.com', sub: '248289761001', groups: ['a'] };
const SETTINGS = {
  issuer: CLAIMS.iss,
  clientId: 'console',
  clientSecret: 'secret',
  scopes: [],
  roles: { manage: [], read: [] },
  groupsClaim: 'groups',
  nameClaim: 'email',
  consoleUrl: 'https://lingate.example.com',
};

test.each<[unknown, readonly string[] | undefined]>([
  [
    ['a', 'b'],
    ['a', 'b'],
  ],
  [[], []],
  ['a', ['a']],
  [['a', 7, null, { b: 1 }, ['c']], ['a']],
  [undefined, undefined],
  [null, undefined],
  [{ a: true }, undefined],
  [7, undefined],
])('the claim %j has the groups %j', (groups, expected) => {
  const person = personOf({ ...CLAIMS, groups }, 'token', SETTINGS);
  expect('groups' in person ? person.groups : undefined).toEqual(expected);
  if (expected === undefined) expect(person).toMatchObject({ refused: 'no_claim', detail: expect.stringContaining('groups') as string });
});

test('what every object has is no claim', () => {
  const settings = { ...SETTINGS, groupsClaim: 'constructor', nameClaim: 'toString' };
  expect(personOf(CLAIMS, 'token', settings)).toMatchObject({ refused: 'no_claim' });
  expect(personOf({ ...CLAIMS, constructor: 'a' }, 'token', settings)).toMatchObject({ name: CLAIMS.sub, groups: ['a'] });
});

test.each([
  [{ email: 'ada@example.com' }, 'ada@example.com'],
  [{ email: 'ada@example.com', email_verified: true }, 'ada@example.com'],
  [{ email: 'ada@example.com', email_verified: false }, CLAIMS.sub],
  [{ email: 'Ada Lovelace' }, 'Ada Lovelace'],
  [{ email: '' }, CLAIMS.sub],
  [{ email: ' ada' }, CLAIMS.sub],
  [{ email: 'a\nb' }, CLAIMS.sub],
  [{ email: 'a\u2028b' }, CLAIMS.sub],
  [{ email: 'a\u202eb' }, CLAIMS.sub],
  [{ email: 'x'.repeat(201) }, CLAIMS.sub],
  [{ email: ['ada'] }, CLAIMS.sub],
  [{ sub: 'a\nb é' }, 'a?b???'.slice(0, 3) + '??'],
])('the claims %j are named %s', (claims, name) => {
  expect(personOf({ ...CLAIMS, ...claims }, 'token', SETTINGS)).toMatchObject({ name });
});
