// The console under attack: without a session, with an old one, by forged forms and foreign pages, nothing is shown and nothing changes.
import { randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { CONSOLE_ROUTES } from '../support/door/tables.ts';
import { ConsoleVisitor, hiddenFields } from '../support/console-visitor.ts';
import { expectProblem, onOneGateway } from '../support/every-gateway.ts';
import type { HttpResponse } from '../support/raw-http.ts';

const TOKEN = randomBytes(24).toString('hex');
const UNKNOWN = '01JD3Q7V6Y8Z0XKQ4T5N2M9HRC';

const CONFIG = { admin: { token: TOKEN }, ops_names: ['ops.internal'], gateway: 'eu-1' };

onOneGateway({ config: CONFIG }, (setting) => {
  const visitor = (): ConsoleVisitor => new ConsoleVisitor(setting.gateway.opsPort);
  const signedIn = () => ConsoleVisitor.signedIn(setting.gateway.opsPort, TOKEN);
  const leadsToSignIn = (response: HttpResponse): void =>
    expect([response.status, response.header('location'), response.body]).toEqual([303, '/console/sign-in', '']);
  const paths = (method: 'GET' | 'POST', access: 'everybody' | 'signed-in'): string[] =>
    CONSOLE_ROUTES.filter((route) => route.method === method && route.access === access).map(
      ({ path }) => `/console${path.replaceAll(/\{\w+\}/g, UNKNOWN)}`,
    );

  describe('signing in', () => {
    test('leads to the console, by a cookie that no script sees and no other site sends, for an hour', async () => {
      const operator = visitor();
      const answer = await operator.signIn(TOKEN);
      expect([answer.status, answer.header('location')]).toEqual([303, '/console']);
      expect(answer.header('set-cookie')).toMatch(/^lingate_console=[\w-]{43}; Path=\/console; HttpOnly; SameSite=Strict; Max-Age=3600$/);
      const teams = await operator.get('/console/teams');
      expect([teams.status, teams.body]).toEqual([200, expect.stringMatching(/admin, may change,\s+at eu-1</)]);
      expect((await operator.get('/console/sign-in')).header('location')).toBe('/console');
    });

    test('over TLS sets a cookie that is sent over TLS only', async () => {
      const operator = visitor();
      const headers = { host: 'ops.internal', origin: 'https://ops.internal' };
      const answer = await operator.submit('/console/sign-in', '/console/sign-in', { token: TOKEN }, headers);
      expect([answer.status, answer.header('set-cookie')]).toEqual([303, expect.stringMatching(/; Secure$/)]);
    });

    test('with another token is refused without a cookie and without repeating it', async () => {
      for (const token of ['', 'wrong-<b>token</b>', TOKEN.slice(1)]) {
        const answer = await visitor().signIn(token);
        expect([401, 429]).toContain(answer.status);
        expect(answer.header('set-cookie')).toBeUndefined();
        expect(answer.body).not.toContain('wrong-');
      }
    });

    test('never adopts an existing cookie, and ends its session if it was valid', async () => {
      const operator = visitor();
      for (const planted of [`lingate_console=${'x'.repeat(43)}`, (await signedIn()).cookie]) {
        operator.cookie = planted;
        const { body } = await new ConsoleVisitor(setting.gateway.opsPort).get('/console/sign-in');
        await operator.post('/console/sign-in', { ...hiddenFields(body, '/console/sign-in'), token: TOKEN });
        expect(operator.cookie).not.toBe(planted);
        expect((await operator.get('/console/teams')).status).toBe(200);
        operator.cookie = planted;
        leadsToSignIn(await operator.get('/console/teams'));
      }
    });

    test('a session ends by signing out, even for those who have kept its cookie', async () => {
      const operator = await signedIn();
      const { cookie } = operator;
      leadsToSignIn(await operator.submit('/console/teams', '/console/sign-out'));
      expect(operator.cookie).toBeUndefined();
      operator.cookie = cookie;
      leadsToSignIn(await operator.get('/console/teams'));
    });
  });

  describe('without a session', () => {
    test('every page of the table redirects to the sign-in, and every form is refused', async () => {
      for (const cookie of [undefined, 'lingate_console=', `lingate_console=${'x'.repeat(43)}`]) {
        const nobody = visitor();
        nobody.cookie = cookie;
        for (const path of paths('GET', 'signed-in')) leadsToSignIn(await nobody.get(path));
        for (const path of paths('POST', 'signed-in')) {
          expectProblem(await nobody.post(path, {}, { accept: '*/*' }), 'forbidden');
        }
      }
    });

    test('only the sign-in, its way to a provider and back, and its style sheet are accessible', async () => {
      expect(paths('POST', 'everybody')).toEqual(['/console/sign-in']);
      const pages = paths('GET', 'everybody').filter((path) => !path.startsWith('/console/assets/'));
      expect(pages).toEqual(['/console/sign-in', '/console/oidc/start', '/console/oidc/callback']);
      for (const path of pages.slice(1)) expectProblem(await visitor().get(path, { accept: '*/*' }), 'not_found');
    });
  });

  describe('a forged form', () => {
    test('is refused by every form of the table: without the anti-forgery token, with an old one, with another session’s', async () => {
      const operator = await signedIn();
      const other = await signedIn();
      const foreign = hiddenFields((await other.get('/console/teams')).body, '/console/sign-out')['csrf_token']!;
      for (const path of paths('POST', 'signed-in')) {
        const forged: Record<string, string>[] = [{}, { csrf_token: '' }, { csrf_token: 'x'.repeat(43) }, { csrf_token: foreign }];
        for (const fields of forged) {
          expectProblem(await operator.post(path, fields, { accept: '*/*' }), 'csrf_invalid');
        }
      }
      expect((await operator.get('/console/teams')).status).toBe(200);
    });

    test('is refused with a page that names its code', async () => {
      const operator = await signedIn();
      const answer = await operator.post('/console/sign-out', {});
      expect([answer.status, answer.header('content-type')]).toEqual([419, 'text/html; charset=utf-8']);
      expect(answer.body).toContain('<code>csrf_invalid</code>');
    });

    test('at the sign-in is refused too, whatever its token', async () => {
      for (const csrf_token of ['', 'x', `0.${'x'.repeat(43)}`, `${'9'.repeat(15)}.${'x'.repeat(43)}`]) {
        const answer = await visitor().post('/console/sign-in', { token: TOKEN, csrf_token }, { accept: '*/*' });
        expectProblem(answer, 'csrf_invalid');
      }
    });

    test.each<[string, Record<string, string>]>([
      ['another site', { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }],
      ['another port of this machine', { origin: 'http://127.0.0.1:1', 'sec-fetch-site': 'same-site' }],
      ['a page without an origin', { origin: 'null' }],
      ['another site, by one field only', { 'sec-fetch-site': 'cross-site' }],
      ['another site, by the other only', { origin: 'https://evil.example' }],
    ])('from %s is refused, although it has the token', async (_what, headers) => {
      const operator = await signedIn();
      const answer = await operator.submit('/console/teams', '/console/sign-out', {}, { ...headers, accept: '*/*' });
      expectProblem(answer, 'forbidden');
      expect((await operator.get('/console/teams')).status).toBe(200);
    });

    test.each([
      ['text/plain', 'a=b'],
      ['application/json', '{}'],
      ['multipart/form-data; boundary=x', '--x--'],
      ['application/x-www-form-urlencoded', `a=${'x'.repeat(20_000)}`],
      ['application/x-www-form-urlencoded', 'csrf_token=a&csrf_token=b'],
      ['application/x-www-form-urlencoded', 'a=%ff'],
    ])('as %s, or too large, or with a field twice, is refused', async (type, body) => {
      const operator = await signedIn();
      expectProblem(await operator.post('/console/sign-out', body, { 'content-type': type, accept: '*/*' }), 'validation_error');
    });
  });

  test('every answer forbids framing, foreign forms, foreign scripts, caching and referrers', async () => {
    const operator = await signedIn();
    for (const [path, status] of [
      ['/console/teams', 200],
      ['/console/sign-in', 303],
      ['/console/nothing', 404],
    ] as const) {
      const answer = await operator.get(path);
      expect(answer.status).toBe(status);
      const policy = answer.header('content-security-policy')!;
      expect(policy).toMatch(/^default-src 'none'/);
      expect(policy).toContain("frame-ancestors 'none'");
      expect(policy).not.toMatch(/unsafe|http:|\*/);
      if (status !== 303) expect(policy).toContain("form-action 'self'");
      expect(answer.header('x-frame-options')).toBe('DENY');
      expect(answer.header('x-content-type-options')).toBe('nosniff');
      expect(answer.header('cache-control')).toBe('no-store');
      expect(answer.header('referrer-policy')).toBe('same-origin');
      expect(answer.header('x-request-id')).toMatch(/^[0-7][0-9A-HJKMNP-TV-Z]{25}$/);
    }
  });

  test.each([
    '/console/',
    '/console//',
    '/console/teams/',
    '/console/Teams',
    '/console/teams/..',
    '/console/teams/../sign-in',
    '/console/./teams',
    '/console/%2e%2e/metrics',
    '/console/teams%2fnew',
    '/console/teams/%00',
    '/console/teams\\new',
    '/console/assets/../console.ts',
    '/console/assets/..%2f..%2fpackage.json',
    '/console/assets/console.css',
    '/console/__proto__',
    '/console/constructor',
    `/console/${'a'.repeat(8000)}`,
  ])('%s is not found', async (path) => {
    const operator = await signedIn();
    const answer = await operator.get(path, { accept: '*/*' });
    expectProblem(answer, 'not_found');
  });

  test('another method is refused by its name', async () => {
    const operator = await signedIn();
    const answer = await operator.post('/console/teams/new', {}, { accept: '*/*' });
    expectProblem(answer, 'method_not_allowed');
    expect(answer.header('allow')).toBe('GET, HEAD');
  });

  test('under a name that is not the listener’s own nothing is accessible, even with the cookie', async () => {
    const operator = await signedIn();
    for (const host of ['evil.example', `evil.example:${setting.gateway.opsPort}`]) {
      expect((await operator.get('/console/teams', { host })).status).toBe(421);
      expect((await operator.post('/console/sign-in', { token: TOKEN }, { host })).status).toBe(421);
    }
    expect((await operator.get('/console/teams', { host: 'ops.internal' })).status).toBe(200);
  });

  test('what a query holds is not in the page, except escaped as the search', async () => {
    const operator = await signedIn();
    const script = '"><script>alert(1)</script>';
    const query = new URLSearchParams({ q: script, sort: script, cursor: script, notice: script, other: script }).toString();
    const { status, body } = await operator.get(`/console/teams?${query}`);
    expect(status).toBe(200);
    expect(body).not.toContain('<script>alert');
    expect(body).toContain('&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;');
  });

  test(
    '200 wrong tokens: from the eleventh within a minute on all must wait, and the operator is let in',
    { timeout: 120_000 },
    async () => {
      const guesser = visitor();
      const { body } = await guesser.get('/console/sign-in');
      const fields = hiddenFields(body, '/console/sign-in');
      const statuses: number[] = [];
      const beganMs = performance.now();
      for (let sent = 0; sent < 200; sent += 50) {
        const tries = Array.from({ length: 50 }, (_, at) => guesser.post('/console/sign-in', { ...fields, token: `${TOKEN}${sent + at}` }));
        statuses.push(...(await Promise.all(tries)).map(({ status }) => status));
      }
      expect(statuses.filter((status) => status !== 429 && status !== 401)).toEqual([]);
      const minutes = 1 + Math.floor((performance.now() - beganMs) / 60_000);
      expect(statuses.filter((status) => status === 401).length).toBeLessThanOrEqual(10 * (minutes + 1));
      expect(guesser.cookie).toBeUndefined();
      await signedIn();
      expect(setting.gateway.logLines.join('')).not.toContain(TOKEN);
    },
  );
});
