// The sign-in by a provider under attack: forged, replayed and mixed-up answers each get a page that says so, no session, and an entry
// in the audit.
import { randomBytes } from 'node:crypto';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import type { AuditEntry } from '../../../src/domain/audit-entry.ts';
import type { SignInRefusal } from '../../../src/domain/operator.ts';
import { answered } from '../../../src/index.ts';
import type { TestGateway } from '../../support/gateway.ts';
import { CONSOLE_URL, OidcVisitor } from '../../support/oidc-visitor.ts';
import type { HttpResponse } from '../../support/raw-http.ts';
import { startScriptedProvider, unsignedToken } from '../../support/scripted-provider.ts';
import type { Claims, Lies } from '../../support/scripted-provider.ts';
import { startedUntil } from '../../support/started.ts';

const ADA = { sub: '248289761001', email: 'ada@example.com', groups: ['lingate-admins'] };
const TOKEN = randomBytes(24).toString('hex');

const [provider, other] = [await startScriptedProvider(), await startScriptedProvider()];
afterAll(() => Promise.all([provider.stop(), other.stop()]));
afterEach(() => provider.lies({}));
const started = startedUntil(afterEach);
let gateway: TestGateway;

/** A gateway of its own for each group of attacks: failures of an address count together. */
async function open(): Promise<TestGateway> {
  const oidc = {
    issuer: provider.issuer,
    client_id: provider.clientId,
    client_secret: provider.clientSecret,
    roles: { manage: ['lingate-admins'], read: [] },
  };
  const config = { admin: { token: TOKEN, console_url: CONSOLE_URL, oidc } };
  gateway = await started.gateway({ listener: 'node', engineUrls: ['http://127.0.0.1:9'], config });
  return gateway;
}

const visitor = (): OidcVisitor => new OidcVisitor(gateway.opsPort);
const newest = async (limit = 1): Promise<readonly AuditEntry[]> =>
  answered(await gateway.store.audit.page({ teamId: undefined, after: undefined, sinceMs: undefined, limit }));

/** With no session, a page that has the word, and the same word in audit and log. */
async function expectRefused(browser: OidcVisitor, answer: HttpResponse, status: number, refused: SignInRefusal): Promise<void> {
  expect([answer.status, /<code>(\w+)<\/code>/.exec(answer.body)?.[1]]).toEqual([status, refused]);
  expect(answer.body).toContain('<h1>You are not signed in</h1>');
  expect(answer.header('content-security-policy')).toContain("form-action 'self'");
  expect(browser.cookies.has('lingate_console')).toBe(false);
  expect((await browser.get('/console/teams')).header('location')).toBe('/console/sign-in');
  const [entry] = await newest();
  expect(entry).toMatchObject({ action: 'sign_in_refused', teamId: undefined, before: {}, after: { via: 'oidc', refused } });
  const line = gateway.logLines.findLast((one) => one.includes('a sign-in by the provider was refused'));
  expect(JSON.parse(line!)).toMatchObject({ refused, level: 'warn' });
}

const header = { alg: 'ES256' };
const seconds = (): number => Math.floor(Date.now() / 1000);

type Attack = readonly [attack: string, lies: () => Lies, detail: string];
/** The right claims, but for these. */
const claiming = (changed: (right: Claims) => Claims) => (): Lies => ({ claims: (right) => ({ ...right, ...changed(right) }) });
const token = (signed: (right: Claims) => string, allowed?: string) => (): Lies => ({
  token: signed,
  ...(allowed === undefined ? {} : { metadata: allowing(allowed) }),
});

const CLAIMS: readonly Attack[] = [
  ['of another nonce', claiming(() => ({ nonce: 'x'.repeat(43) })), 'unexpected ID Token "nonce" claim value'],
  ['without a nonce', claiming(() => ({ nonce: undefined })), 'JWT "nonce" (nonce) claim missing'],
  ['of another issuer', claiming(() => ({ iss: other.issuer })), 'unexpected JWT "iss" (issuer) claim value'],
  ['for another audience', claiming(() => ({ aud: 'another client' })), 'unexpected JWT "aud" (audience) claim value'],
  [
    'for several audiences, authorized for another',
    claiming(({ aud }) => ({ aud: [aud, 'x'], azp: 'x' })),
    'unexpected ID Token "azp" (authorized party) claim value',
  ],
  [
    'that has expired',
    claiming(() => ({ exp: seconds() - 60 })),
    'unexpected JWT "exp" (expiration time) claim value, expiration is past current timestamp',
  ],
  ['made long ago', claiming(() => ({ iat: seconds() - 900 })), 'unexpected "iat"'],
  ['made in the future', claiming(() => ({ iat: seconds() + 900 })), 'unexpected "iat"'],
];
const WRONG = 'JWT signature verification failed';
const SIGNATURES: readonly Attack[] = [
  ['of nobody', token((right) => unsignedToken({ alg: 'none' }, right)), 'unexpected JWT "alg" header parameter'],
  [
    'of nobody, which the discovery document allows',
    token((right) => unsignedToken({ alg: 'none' }, right), 'none'),
    'unsupported JWS "alg" identifier',
  ],
  [
    'by the client’s secret, which the discovery document allows',
    token((right) => unsignedToken({ alg: 'HS256' }, right, provider.clientSecret), 'HS256'),
    'unsupported JWS algorithm',
  ],
  [
    'by another provider',
    token((right) => other.rotateKeys()(right)),
    'error when selecting a JWT verification key, no applicable keys found',
  ],
  ['that is empty', token((right) => unsignedToken(header, right)), WRONG],
  ['of other claims', token((right) => mixed(provider.sign({ ...right, sub: '1' }), right)), WRONG],
  ['that is no token', token(() => ''), '"response" body "id_token" property must not be empty'],
];

test.each([
  ['claims', CLAIMS],
  ['signature', SIGNATURES],
])('an ID token with a wrong %s is refused', async (_what, attacks) => {
  for (const [attack, lies, detail] of attacks) {
    // A discovery document is remembered: each attack has a gateway that has not read it.
    await open();
    const browser = visitor();
    provider.lies(lies());
    const answer = await browser.comeBack(provider.approve(await browser.begin(), ADA));
    await expectRefused(browser, answer, 400, 'wrong_id_token').catch((error: unknown) => {
      throw new Error(attack, { cause: error });
    });
    expect([attack, (JSON.parse(gateway.logLines.at(-1)!) as { detail: string }).detail]).toEqual([attack, detail]);
    expect(answer.body).not.toContain(detail);
  }
});

function allowing(algorithm: string): NonNullable<Lies['metadata']> {
  return (metadata) => ({ ...metadata, id_token_signing_alg_values_supported: ['ES256', algorithm] });
}

/** The signature of one token below the claims of another. */
function mixed(signed: string, claims: Claims): string {
  const [head, , signature] = signed.split('.');
  return `${head}.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.${signature}`;
}

describe('an answer', () => {
  test('of another browser, or for another attempt, is refused', async () => {
    await open();
    const [victim, attacker] = [visitor(), visitor()];
    const stolen = provider.approve(await attacker.begin(), ADA);
    await victim.begin();
    for (const query of [stolen, withState(stolen, 'x'.repeat(43)), withState(stolen, ''), withState(stolen, undefined)]) {
      await expectRefused(victim, await victim.comeBack(query), 400, 'wrong_state');
    }
    const state = stolen.get('state')!;
    const almost = withState(stolen, `${state.slice(0, -1)}${state.endsWith('A') ? 'B' : 'A'}`);
    await expectRefused(attacker, await attacker.comeBack(almost), 400, 'wrong_state');
    const twice = new URLSearchParams(stolen);
    twice.append('state', state);
    await expectRefused(attacker, await attacker.comeBack(twice), 400, 'wrong_state');
    expect((await attacker.comeBack(stolen)).status).toBe(200);
  });

  test('with a cookie that the browser has made up, or that is not of this host, is refused', async () => {
    await open();
    const browser = visitor();
    const query = provider.approve(await browser.begin(), ADA);
    const [[name, value]] = [...browser.cookies] as [[string, string]];
    for (const [otherName, otherValue] of [
      [name, `${value.slice(0, -1)}${value.endsWith('A') ? 'B' : 'A'}`],
      [name, `${Date.now() - 700_000}${value.slice(13)}`],
      [name.replace('__Host-', ''), value],
    ] as const) {
      browser.cookies.clear();
      browser.cookies.set(otherName, otherValue);
      await expectRefused(browser, await browser.comeBack(query), 400, 'wrong_state');
    }
  });

  test('that is sent again is refused, and so is its code with another attempt', async () => {
    await open();
    const browser = visitor();
    const query = provider.approve(await browser.begin(), ADA);
    const retained = new Map(browser.cookies);
    const thief = visitor();
    for (const [name, value] of retained) thief.cookies.set(name, value);
    expect((await browser.comeBack(query)).status).toBe(200);
    const calls = provider.calls.get('/token');
    await expectRefused(thief, await thief.comeBack(query), 400, 'used_before');
    expect(provider.calls.get('/token')).toBe(calls);
    const again = provider.approve(await thief.begin(), ADA);
    again.set('code', query.get('code')!);
    await expectRefused(thief, await thief.comeBack(again), 400, 'wrong_code');
  });

  test('with a code of another browser is refused by PKCE', async () => {
    await open();
    const [one, attacker] = [visitor(), visitor()];
    const injected = provider.approve(await one.begin(), ADA);
    injected.set('code', provider.approve(await attacker.begin(), ADA).get('code')!);
    await expectRefused(one, await one.comeBack(injected), 400, 'wrong_code');
  });

  test('of another provider, or of none although this one names itself, is refused before a code is sent to anyone', async () => {
    await open();
    const calls = provider.calls.get('/token') ?? 0;
    for (const iss of [other.issuer, `${provider.issuer}/`, '', undefined]) {
      const browser = visitor();
      const query = provider.approve(await browser.begin(), ADA);
      query.delete('iss');
      if (iss !== undefined) query.set('iss', iss);
      await expectRefused(browser, await browser.comeBack(query), 400, 'wrong_issuer');
    }
    const browser = visitor();
    const query = provider.approve(await browser.begin(), ADA);
    query.append('iss', other.issuer);
    await expectRefused(browser, await browser.comeBack(query), 400, 'wrong_issuer');
    expect(provider.calls.get('/token') ?? 0).toBe(calls);
  });
});

function withState(query: URLSearchParams, state: string | undefined): URLSearchParams {
  const changed = new URLSearchParams(query);
  changed.delete('state');
  if (state !== undefined) changed.set('state', state);
  return changed;
}

test('no parameter or header leads elsewhere', async () => {
  await open();
  const evil = 'https://evil.example/';
  const more = ['next', 'return_to', 'redirect_uri', 'url', 'post_logout_redirect_uri']
    .map((name) => `${name}=${encodeURIComponent(evil)}`)
    .join('&');
  const browser = visitor();
  const start = await browser.get(`/console/oidc/start?${more}`);
  expect(start.header('location')).not.toContain('evil');
  const back = await browser.comeBack(`${provider.approve(start.header('location')!, ADA).toString()}&${more}`);
  expect([back.status, back.body.includes('evil')]).toEqual([200, false]);
  expect((await browser.signOut()).body).not.toContain('evil');
});

test('after ten refused sign-ins of an address more are answered 429, unrecorded, and cost the provider nothing; a stranger’s keep nobody out', async () => {
  await open();
  for (let i = 0; i < 12; i++) {
    const answer = await visitor().comeBack('code=x&state=x');
    expect([answer.status, answer.header('retry-after')]).toEqual(i < 10 ? [400, undefined] : [429, '60']);
  }
  expect(((await newest(50)) as AuditEntry[]).filter(({ after }) => after.refused === 'wrong_state').length).toBeGreaterThanOrEqual(10);
  const good = visitor();
  expect((await good.comeBack(provider.approve(await good.begin(), ADA))).status).toBe(200);
  for (let i = 0; i < 12; i++) {
    const browser = visitor();
    const query = provider.approve(await browser.begin(), ADA);
    query.set('code', 'guessed');
    const calls = provider.calls.get('/token') ?? 0;
    expect((await browser.comeBack(query)).status).toBe(i < 10 ? 400 : 429);
    expect((provider.calls.get('/token') ?? 0) - calls).toBe(i < 10 ? 1 : 0);
  }
});

test('neither secret, code, token nor verifier is in the log, in a page or in the audit', async () => {
  await open();
  const tokens: string[] = [];
  provider.lies({
    claims: (claims) => {
      tokens.push(provider.sign(claims).split('.')[1]!);
      return claims;
    },
  });
  const browser = visitor();
  const query = provider.approve(await browser.begin(), ADA);
  const retained = [...browser.cookies.values()];
  const back = await browser.comeBack(query);
  expect([back.status, tokens.length]).toEqual([200, 1]);
  const bad = await browser.comeBack(query);
  const shown = [back.body, bad.body, ...gateway.logLines, JSON.stringify(await newest(10))].join('\n');
  for (const secret of [provider.clientSecret, query.get('code')!, query.get('state')!, ...retained, ...tokens])
    expect(shown).not.toContain(secret);
});
