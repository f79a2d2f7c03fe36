// Signing in to the console at an OpenID provider: who gets in with which role, what the audit says, and how it ends.
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { AuditEntry } from '../../src/domain/audit-entry.ts';
import { answered } from '../../src/index.ts';
import { startFaultProxy } from '../support/fault-proxy.ts';
import type { TestGateway } from '../support/gateway.ts';
import { CONSOLE_URL, OidcVisitor } from '../support/oidc-visitor.ts';
import { startScriptedProvider } from '../support/scripted-provider.ts';
import type { ScriptedProvider } from '../support/scripted-provider.ts';
import { startedUntil } from '../support/started.ts';
import type { StorePlace } from '../support/store-place.ts';

const ADA = { sub: '248289761001', email: 'ada@example.com', groups: ['staff', 'lingate-admins'] };

describe('two gateways on one store', () => {
  const started = startedUntil(afterAll);
  let place: StorePlace;
  let provider: ScriptedProvider;
  let gateways: TestGateway[];
  let open: (store: string) => Promise<TestGateway>;

  beforeAll(async () => {
    place = await started.place('redis');
    provider = await startScriptedProvider();
    started.closes(() => provider.stop());
    const oidc = {
      issuer: provider.issuer,
      client_id: provider.clientId,
      client_secret: provider.clientSecret,
      roles: { manage: ['lingate-admins'], read: ['sales', 'staff'] },
    };
    const admin = { token: randomBytes(24).toString('hex'), console_url: CONSOLE_URL, oidc };
    open = (store) => started.gateway({ listener: 'node', store, engineUrls: ['http://127.0.0.1:9'], config: { admin } });
    gateways = [await open(place.url), await open(place.url)];
  });

  const visitor = (gateway = gateways[0]!): OidcVisitor => new OidcVisitor(gateway.opsPort);
  const audited = async (): Promise<readonly AuditEntry[]> =>
    answered(await gateways[0]!.store.audit.page({ teamId: undefined, after: undefined, sinceMs: undefined, limit: 3 }));

  /** What the provider answers to an attempt at one gateway, with a browser that can bring it to either. */
  const approvedOnOne = async () => {
    const [one, other] = [visitor(), visitor(gateways[1])];
    const query = provider.approve(await one.begin(), ADA);
    for (const [name, value] of one.cookies) other.cookies.set(name, value);
    return { one, other, query };
  };
  /** Somebody of whom the provider says this. */
  const person = async (claims: object) => {
    const browser = visitor();
    return { browser, answer: await browser.comeBack(provider.approve(await browser.begin(), { ...ADA, ...claims })) };
  };

  test('the sign-in page offers both ways, and the browser is sent to the provider with PKCE, state and nonce', async () => {
    const browser = visitor();
    const { body } = await browser.get('/console/sign-in');
    expect(body).toContain(`Sign in with ${new URL(provider.issuer).host}`);
    expect(body).toContain('With a token');
    const asked = new URL(await browser.begin());
    expect(asked.origin + asked.pathname).toBe(`${provider.issuer}/authorize`);
    expect(Object.fromEntries(asked.searchParams)).toEqual({
      client_id: provider.clientId,
      response_type: 'code',
      redirect_uri: `${CONSOLE_URL}/console/oidc/callback`,
      scope: 'openid email profile',
      state: expect.stringMatching(/^[\w-]{43}$/) as string,
      nonce: expect.stringMatching(/^[\w-]{43}$/) as string,
      code_challenge: expect.stringMatching(/^[\w-]{43}$/) as string,
      code_challenge_method: 'S256',
    });
    expect([...browser.cookies.keys()]).toEqual(['__Host-lingate_sign_in']);
  });

  test('the answer may come to another gateway; its page leads on, with a cookie that no other site sends', async () => {
    const { other, query } = await approvedOnOne();
    const back = await other.comeBack(query);
    expect([back.status, back.header('location'), back.header('referrer-policy')]).toEqual([200, undefined, 'no-referrer']);
    expect(back.body).toContain('<meta http-equiv="refresh" content="0; url=/console" />');
    const set = back.rawHeaders.filter(([name]) => name === 'Set-Cookie').map(([, value]) => value);
    expect(set).toEqual([
      '__Host-lingate_sign_in=; Path=/; Secure; HttpOnly; SameSite=Lax; Max-Age=0',
      expect.stringMatching(/^lingate_console=[\w-]{43}; Path=\/console; HttpOnly; SameSite=Strict; Max-Age=3600; Secure$/),
    ]);
    expect((await other.get('/console/teams')).body).toContain('href="/console/teams/new"');
    const [entry] = await audited();
    expect(entry).toMatchObject({
      actor: 'console:ada@example.com@127.0.0.1',
      action: 'sign_in',
      before: {},
      after: { via: 'oidc', role: 'manage', subject: ADA.sub },
    });
  });

  test('an answer that has come to one gateway counts no more at the other', async () => {
    const { one, other, query } = await approvedOnOne();
    expect((await one.comeBack(query)).status).toBe(200);
    const again = await other.comeBack(query);
    expect([again.status, again.body.includes('<code>used_before</code>')]).toEqual([400, true]);
  });

  test.each([
    ['of both roles has the greater one', ['sales', 'lingate-admins'], 'manage'],
    ['of a group that may read sees no forms for changes', ['sales'], 'read'],
    ['whose single group is not a list is in it', 'sales', 'read'],
  ])('a person %s', async (_what, groups, role) => {
    const { browser, answer } = await person({ groups });
    expect(answer.status).toBe(200);
    expect((await browser.get('/console/teams')).body.includes('/console/teams/new')).toBe(role === 'manage');
    expect((await audited())[0]!.after).toMatchObject({ role });
  });

  test.each([
    ['in none of the groups', { groups: ['guests'] }, 'no_group', 'knows you as <strong>ada@example.com</strong>'],
    ['of whom no groups are said', { groups: undefined }, 'no_claim', 'did not say in which groups you are'],
  ])('a person %s is refused, by name if it is known', async (_what, claims, refused, words) => {
    const { browser, answer } = await person(claims);
    expect([answer.status, answer.body.includes(words)]).toEqual([403, true]);
    expect(answer.body).toContain(`<code>${refused}</code>`);
    expect(browser.cookies.size).toBe(0);
    const [entry] = await audited();
    expect([entry!.action, entry!.after.refused]).toEqual(['sign_in_refused', refused]);
  });

  test.each([
    ['without a name is named by the subject', { email: undefined }, ADA.sub],
    ['with an address that is not verified, too', { email_verified: false }, ADA.sub],
    ['with a name that is none, too', { email: 'ada\u202e@example.com' }, ADA.sub],
    ['with the name of a token’s operator is not mistaken for it', { email: 'Admin' }, 'oidc:Admin'],
  ])('a person %s', async (_what, claims, name) => {
    expect((await person(claims)).answer.status).toBe(200);
    expect((await audited())[0]).toMatchObject({ actor: `console:${name}@127.0.0.1`, action: 'sign_in', after: { subject: ADA.sub } });
  });

  test('signing out ends the session here, leads to the provider’s page, and is in the audit', async () => {
    const { browser } = await person({});
    const retained = browser.cookies.get('lingate_console')!;
    const answer = await browser.signOut();
    const [, written] = /content="0; url=([^"]+)"/.exec(answer.body)!;
    const url = new URL(written!.replaceAll('&amp;', '&'));
    expect([answer.status, url.origin + url.pathname]).toEqual([200, `${provider.issuer}/end`]);
    expect(url.searchParams.get('post_logout_redirect_uri')).toBe(`${CONSOLE_URL}/console/sign-in`);
    expect(url.searchParams.get('id_token_hint')).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+$/);
    expect(browser.cookies.size).toBe(0);
    browser.cookies.set('lingate_console', retained);
    expect((await browser.get('/console/teams')).header('location')).toBe('/console/sign-in');
    expect((await audited())[0]).toMatchObject({ actor: 'console:ada@example.com@127.0.0.1', action: 'sign_out', after: { via: 'oidc' } });
  });

  test('attempts that come back while the store is away are dropped, and count as attempts: they keep no stranger waiting', async () => {
    const proxy = await startFaultProxy(Number(new URL(place.url).port));
    const gateway = await open(place.url.replace(/:\d+/, `:${proxy.port}`));
    const browsers = Array.from({ length: 11 }, () => visitor(gateway));
    const queries: URLSearchParams[] = [];
    for (const browser of browsers) queries.push(provider.approve(await browser.begin(), ADA));
    await proxy.set({ kind: 'refuse' });
    const answers: [number, boolean, number][] = [];
    for (const [index, browser] of browsers.entries()) {
      const { status, body } = await browser.comeBack(queries[index]!);
      answers.push([status, body.includes('<code>store_away</code>'), browser.cookies.size]);
    }
    expect(answers).toEqual([...Array.from({ length: 10 }, () => [503, true, 0]), [429, false, 0]]);
    expect((await visitor(gateway).comeBack('code=x&state=x')).status).toBe(400);
    await proxy.set({ kind: 'none' });
    await gateway.stop();
    await proxy.close();
  });

  test('a key that the provider has just begun to use is known, and one that it has withdrawn counts no more', async () => {
    const signedBefore = provider.rotateKeys();
    expect((await person({})).answer.status).toBe(200);
    provider.lies({ token: signedBefore });
    expect((await person({})).answer.status).toBe(400);
    provider.lies({});
  });
});
