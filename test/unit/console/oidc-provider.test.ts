// The provider by openid-client: what it remembers of it, how long it waits, how much it reads, and whom it proves.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import * as library from 'openid-client';
import type { OidcSettings } from '../../../src/domain/operator.ts';
import { OidcProvider, personOf } from '../../../src/console/oidc-provider.ts';
import type { OidcProviderOptions } from '../../../src/console/oidc-provider.ts';
import { startScriptedProvider } from '../../support/scripted-provider.ts';
import type { Claims, Lies, ScriptedProvider } from '../../support/scripted-provider.ts';

const DISCOVERY = '/.well-known/openid-configuration';
const ATTEMPT = { state: 's'.repeat(43), nonce: 'n'.repeat(43), verifier: 'v'.repeat(43), seed: '' };
const PERSON = { sub: '7', email: 'ada@example.com', groups: ['a'] };
const CLAIMS = { iss: 'https://id.example.com', sub: '248289761001', groups: ['a'] };
const SETTINGS: OidcSettings = {
  issuer: CLAIMS.iss,
  clientId: 'console',
  clientSecret: 'secret',
  scopes: ['email'],
  roles: { manage: ['a'], read: [] },
  groupsClaim: 'groups',
  nameClaim: 'email',
  consoleUrl: 'https://lingate.example.com',
};
const silent = (): void => undefined;

let scripted: ScriptedProvider;
let now: number;

beforeAll(async () => {
  scripted = await startScriptedProvider();
});
afterAll(() => scripted.stop());
beforeEach(() => {
  now = 0;
  scripted.lies({});
});

function provider(options: Partial<OidcProviderOptions> = {}): OidcProvider {
  const { issuer, clientId, clientSecret } = scripted;
  const settings = { ...SETTINGS, issuer, clientId, clientSecret };
  return new OidcProvider({ library, settings: () => settings, now: () => now, nowMs: Date.now, ...options });
}

async function signIn(subject: OidcProvider, person: Claims = PERSON) {
  const url = await subject.authorizationUrl(ATTEMPT);
  return typeof url === 'string' ? subject.identify(scripted.approve(url, person), ATTEMPT) : url;
}

const discoveries = (): number => scripted.calls.get(DISCOVERY) ?? 0;

describe('the discovery document', () => {
  test('is read once by all who need it at the same time, and again after a minute when a browser is sent', async () => {
    const subject = provider();
    const before = discoveries();
    await Promise.all(Array.from({ length: 5 }, () => subject.authorizationUrl(ATTEMPT)));
    now = 59_999;
    await subject.authorizationUrl(ATTEMPT);
    expect(discoveries() - before).toBe(1);
    now = 60_000;
    await subject.authorizationUrl(ATTEMPT);
    expect(discoveries() - before).toBe(2);
  });

  test.each<[string, string, NonNullable<Lies['metadata']>]>([
    ['that leads to no web page', 'provider_error', (metadata) => ({ ...metadata, authorization_endpoint: 'javascript:alert(1)' })],
    ['that leads to nothing', 'provider_error', (metadata) => ({ issuer: metadata['issuer'] })],
    ['of another issuer', 'wrong_issuer', (metadata) => ({ ...metadata, issuer: 'https://other.example.com' })],
  ])('%s is refused: %s', async (_what, refused, metadata) => {
    scripted.lies({ metadata });
    expect(await provider().authorizationUrl(ATTEMPT)).toMatchObject({ refused });
  });
});

describe('a provider that is away', () => {
  test.each([[DISCOVERY], ['/token'], ['/keys']])('at %s is given up in time', async (path) => {
    scripted.lies({ answers: { [path]: silent } });
    expect(await signIn(provider({ callsMsMax: 300 }))).toEqual({ refused: 'provider_away', detail: 'operation timed out' });
  });

  test('in the middle of an answer is given up as well', async () => {
    scripted.lies({ answers: { '/token': (response) => void response.writeHead(200, { 'Content-Type': 'application/json' }).write('{') } });
    expect(await signIn(provider({ callsMsMax: 300 }))).toMatchObject({ refused: 'provider_away' });
  });

  test('leads nowhere else: redirects are not followed', async () => {
    scripted.lies({
      answers: { '/token': (response) => void response.writeHead(307, { Location: `${scripted.issuer}/elsewhere` }).end() },
    });
    expect(await signIn(provider())).toEqual({ refused: 'provider_away', detail: 'status 307' });
    expect(scripted.calls.get('/elsewhere')).toBeUndefined();
  });
});

test('an endless answer is read up to a limit', async () => {
  const endless: NonNullable<Lies['answers']>[string] = (response) => {
    response.writeHead(200, { 'Content-Type': 'application/json' });
    const more = (): void => {
      while (!response.destroyed && response.write(' '.repeat(65_536)));
      if (!response.destroyed) response.once('drain', more);
    };
    more();
  };
  scripted.lies({ answers: { [DISCOVERY]: endless } });
  expect(await provider().authorizationUrl(ATTEMPT)).toEqual({ refused: 'provider_error', detail: 'an answer of more than 524288 bytes' });
});

describe('claims that are not in the ID token', () => {
  const withUserInfo = (sub: string): void =>
    scripted.lies({
      metadata: (metadata) => ({ ...metadata, userinfo_endpoint: `${scripted.issuer}/userinfo` }),
      answers: {
        '/userinfo': (response) =>
          void response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify({ ...PERSON, sub, groups: ['more'] })),
      },
    });

  test('come from the user info; those of the ID token count', async () => {
    withUserInfo('7');
    expect(await signIn(provider(), { sub: '7' })).toMatchObject({ name: 'ada@example.com', groups: ['more'] });
    expect(await signIn(provider(), { sub: '7', groups: ['a'] })).toMatchObject({ name: 'ada@example.com', groups: ['a'] });
  });

  test('of another person are refused', async () => {
    withUserInfo('8');
    expect(await signIn(provider(), { sub: '7' })).toMatchObject({ refused: 'provider_error' });
  });
});

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
  const person = personOf({ ...CLAIMS, groups }, SETTINGS);
  expect('groups' in person ? person.groups : undefined).toEqual(expected);
  if (expected === undefined) expect(person).toMatchObject({ refused: 'no_claim', detail: expect.stringContaining('groups') as string });
});

test('what every object has is no claim', () => {
  const settings = { ...SETTINGS, groupsClaim: 'constructor', nameClaim: 'toString' };
  expect(personOf(CLAIMS, settings)).toMatchObject({ refused: 'no_claim' });
  expect(personOf({ ...CLAIMS, constructor: 'a' }, settings)).toMatchObject({ name: CLAIMS.sub, groups: ['a'] });
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
  expect(personOf({ ...CLAIMS, ...claims }, SETTINGS)).toMatchObject({ name });
});
