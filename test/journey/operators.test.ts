// Operators and their changes, on both stores: who may use which route, and that the audit log has each change once, without a secret.
import { randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { ADMIN_ROUTES, CONSOLE_ROUTES } from '../support/door/tables.ts';
import { adminClient } from '../support/admin-client.ts';
import type { Json } from '../support/admin-client.ts';
import { ConsoleVisitor, hiddenFields } from '../support/console-visitor.ts';
import { expectProblem, onOneGateway } from '../support/every-gateway.ts';
import { CREDIT_PLAN, QUOTA_PLAN } from '../support/gateway.ts';
import { inProcess, parsed } from '../support/lingate-command.ts';
import { writtenOnce } from '../support/written-file.ts';

const [TOKEN, OPS, SALES] = [randomBytes(24).toString('hex'), randomBytes(24).toString('hex'), randomBytes(24).toString('hex')];
const PLANS = { pro: QUOTA_PLAN, prepaid: CREDIT_PLAN };
const TOKENS = [
  { name: 'ops', token: OPS, role: 'manage' },
  { name: 'sales', token: SALES, role: 'read' },
];
const UNKNOWN = '01JD3Q7V6Y8Z0XKQ4T5N2M9HRC';

onOneGateway({ config: { admin: { token: TOKEN, tokens: TOKENS }, plans: PLANS } }, (setting) => {
  const { call, answered, listed } = adminClient(setting, TOKEN);
  const fileWith = writtenOnce();
  const cli = async (...args: readonly string[]): Promise<Json> => {
    const where = ['--config', fileWith(JSON.stringify({ plans: PLANS })), '--store', setting.url];
    return parsed(await inProcess([...args, '--json', ...where])) as Json;
  };
  const makeTeam = async (): Promise<string> => {
    const body = { name: `Acme ${randomBytes(4).toString('hex')}`, plan: 'prepaid', credit_minor: 900 };
    return String((await answered('createTeam', call('POST', '/teams', { body })))['team_id']);
  };
  const auditOf = async (teamId: string): Promise<Json[]> =>
    (await answered('listAudit', call('GET', `/audit?team=${teamId}`)))['entries'] as Json[];
  const signedIn = (token: string) => ConsoleVisitor.signedIn(setting.gateway.opsPort, token);

  describe('the role read, over the admin API', () => {
    const attacks = ADMIN_ROUTES.map((route) => ({ ...route, what: `${route.method} ${route.path}` }));

    test.each(attacks)('$what: reads, and changes nothing', async ({ method, path, body, operation: { looksOnly } }) => {
      const teamId = await makeTeam();
      const before = [await auditOf(teamId), (await call('GET', `/teams/${teamId}`)).body];
      const target = path.replace('{id}', path.startsWith('/keys') ? UNKNOWN : teamId).replace('{name}', 'prepaid');
      const sent = body === undefined ? {} : { body: { add_credit_minor: 5 } };
      const keyed: Record<string, string>[] = [{}, { 'idempotency-key': `k-${randomBytes(4).toString('hex')}` }];
      for (const headers of keyed) {
        const answer = await call(method, target, { ...sent, token: SALES, headers });
        if (method === 'GET' || looksOnly === true) expect(answer.status).not.toBe(403);
        else expectProblem(answer, 'forbidden');
      }
      expect([await auditOf(teamId), (await call('GET', `/teams/${teamId}`)).body]).toEqual(before);
    });

    test('a wrong body, or one that is not JSON, is refused for the role first', async () => {
      for (const body of ['{', '[]', 'x'.repeat(20)]) expectProblem(await call('POST', '/teams', { body, token: SALES }), 'forbidden');
      expectProblem(await call('PUT', '/teams', { token: SALES }), 'method_not_allowed');
      expectProblem(await call('POST', '/nothing', { token: SALES }), 'not_found');
    });
  });

  describe('the role read, in the console', () => {
    const paths = (method: 'GET' | 'POST', changes: boolean, teamId: string): string[] =>
      CONSOLE_ROUTES.filter((route) => route.method === method && route.access === 'signed-in' && route.changes === changes).map(
        ({ path }) =>
          `/console${path
            .replace('{id}', teamId)
            .replace('{name}', 'prepaid')
            .replaceAll(/\{\w+\}/g, UNKNOWN)}`,
      );

    test('pages have only forms that read, and no links to changes', async () => {
      const teamId = await makeTeam();
      await answered('createKey', call('POST', `/teams/${teamId}/keys`, { body: { mode: 'live' } }));
      const reader = await signedIn(SALES);
      for (const path of paths('GET', false, teamId)) {
        const { status, body } = await reader.get(path);
        expect([path, status === 403]).toEqual([path, false]);
        const actions = [...body.matchAll(/<form method="post" action="([^"]*)"/g)].map(([, action]) => action);
        expect([path, actions.filter((action) => action !== '/console/sign-out')]).toEqual([path, []]);
        const links = [...body.matchAll(/href="(\/console[^"]*)"/g)].map(([, href]) => href!);
        expect([path, links.filter((href) => /\/(?:new|revoke|rotate|delete)\b/.test(href))]).toEqual([path, []]);
      }
    });

    test('a form that is sent anyway, and a page that is only a form, is a 403 page', async () => {
      const teamId = await makeTeam();
      const before = await auditOf(teamId);
      const reader = await signedIn(SALES);
      const { csrf_token = '' } = hiddenFields((await reader.get('/console/teams')).body, '/console/sign-out');
      expect(paths('POST', true, teamId).length).toBeGreaterThan(5);
      for (const path of paths('POST', true, teamId)) {
        const answer = await reader.post(path, { csrf_token, name: 'Taken', amount: '5', mode: 'live', plan: 'pro' });
        expect([path, answer.status, answer.header('content-type')]).toEqual([path, 403, 'text/html; charset=utf-8']);
        expect(answer.body).toContain('<code>forbidden</code>');
      }
      for (const path of paths('GET', true, teamId)) expect([path, (await reader.get(path)).status]).toEqual([path, 403]);
      expect(await auditOf(teamId)).toEqual(before);
    });
  });

  test('each change by command line, admin API and console is one entry with its author', async () => {
    const teamId = await makeTeam();
    const operator = await signedIn(OPS);
    const page = `/console/teams/${teamId}`;
    await operator.submit(page, `${page}/credit`, { amount: '1.50', reason: 'gift' });
    await operator.submit(page, `${page}/credit`, { amount: '-2', reason: 'paid <b>twice</b>' });
    const retried = { body: { add_credit_minor: -50, reason: 'again' }, token: OPS, headers: { 'idempotency-key': `k-${teamId}` } };
    for (let i = 0; i < 3; i++) await answered('updateTeam', call('PATCH', `/teams/${teamId}`, retried));
    const key = await answered('createKey', call('POST', `/teams/${teamId}/keys`, { body: { mode: 'live', label: 'backend' } }));
    await cli('key', 'revoke', String(key['key_id']));
    const entries = await auditOf(teamId);
    const reply = entries.map(({ actor, action, before, after }) => [String(actor).replace(/@.*/, ''), action, before, after]);
    expect(reply).toEqual([
      [expect.stringMatching(/^cli:./), 'revokeKey', { status: 'active' }, { status: 'revoked' }],
      ['admin:admin', 'createKey', {}, { display: key['display'], label: 'backend', mode: 'live', status: 'active' }],
      ['admin:ops', 'updateTeam', { balance_minor: 850 }, { balance_minor: 800, reason: 'again' }],
      ['console:ops', 'updateTeam', { balance_minor: 1050 }, { balance_minor: 850, reason: 'paid <b>twice</b>' }],
      ['console:ops', 'updateTeam', { balance_minor: 900 }, { balance_minor: 1050, reason: 'gift' }],
      ['admin:admin', 'createTeam', {}, expect.objectContaining({ plan: 'prepaid', balance_minor: 900 })],
    ]);
    expect(entries.every(({ at, actor }) => /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(String(at)) && /@./.test(String(actor)))).toBe(true);
    expect(await cli('audit', 'list', '--team', teamId)).toEqual({ entries });
    for (const shown of [`/console/audit?team=${teamId}`, '/console/audit']) {
      const { status, body } = await operator.get(shown);
      expect(status).toBe(200);
      expect(body).toContain('paid &lt;b&gt;twice&lt;/b&gt;');
    }
    const everything = [JSON.stringify(entries), (await call('GET', '/audit?limit=200')).body, (await operator.get('/console/audit')).body];
    for (const text of everything) for (const secret of [TOKEN, OPS, SALES, String(key['key'])]) expect(text).not.toContain(secret);
  });

  test('an entry has the numbers of a plan and the limits of a key under their names, alike on all fronts', async () => {
    const body = { name: `Limited ${randomBytes(4).toString('hex')}`, plan: 'pro' };
    const teamId = String((await answered('createTeam', call('POST', '/teams', { body })))['team_id']);
    const { characters, requests_per_second } = QUOTA_PLAN;
    const limits = {
      expires_at: '2099-01-31T19:00:00+01:00',
      requests_per_second: 5,
      characters: 100,
      limits: [
        { per: 'hour', characters: 5 },
        { per: 'minute', requests: 3, characters: 9 },
      ],
      allowed_addresses: ['10.1.2.3/8', '10.0.0.0/8', '::1'],
      scopes: ['usage:read', 'translate:text', 'usage:read'],
    };
    const made = await answered('createKey', call('POST', `/teams/${teamId}/keys`, { body: { mode: 'live', ...limits } }));
    const change = (members: object) => answered('updateKey', call('PATCH', `/keys/${String(made['key_id'])}`, { body: members }));
    await change({ requests_per_second: 7, limits: [{ per: 'day', characters: 50 }], scopes: ['languages:read'] });
    await change(Object.fromEntries(Object.keys(limits).map((name) => [name, null])));
    await answered('updateTeam', call('PATCH', `/teams/${teamId}`, { body: { plan: 'prepaid' } }));
    const first = { expires_at: '2099-01-31T18:00:00Z', characters: 100, allowed_addresses: '10.0.0.0/8 ::1/128' };
    const before = {
      requests_per_second: 5,
      limits: 'requests=3/minute characters=9/minute characters=5/hour',
      scopes: 'usage:read translate:text',
    };
    const after = { requests_per_second: 7, limits: 'characters=50/day', scopes: 'languages:read' };
    const entries = await auditOf(teamId);
    expect(entries.map((entry) => [entry['action'], entry['before'], entry['after']])).toEqual([
      ['updateTeam', expect.objectContaining({ plan: 'pro', characters }), expect.objectContaining({ plan: 'prepaid' })],
      ['updateKey', { ...first, ...after }, {}],
      ['updateKey', before, after],
      ['createKey', {}, { display: made['display'], label: '', mode: 'live', status: 'active', ...first, ...before }],
      ['createTeam', {}, expect.objectContaining({ name: body.name, plan: 'pro', characters, requests_per_second })],
    ]);
    expect(await cli('audit', 'list', '--team', teamId)).toEqual({ entries });
    const page = (await (await signedIn(OPS)).get(`/console/audit?team=${teamId}`)).body;
    for (const text of Object.values(before)) expect(page).toContain(String(text));
  });

  test('credit is deducted only with a reason, at most what is left, each refused in one clear line', async () => {
    const teamId = await makeTeam();
    const refused = async (body: object): Promise<string> =>
      expectProblem(await call('PATCH', `/teams/${teamId}`, { body }), 'validation_error');
    expect(await refused({ add_credit_minor: -5 })).toBe('reason: is required to deduct credit.');
    expect(await refused({ add_credit_minor: -5, reason: ' ' })).toBe('reason: is blank; say why.');
    expect(await refused({ add_credit_minor: 0, reason: 'x' })).toMatch(/^add_credit_minor: must not be 0/);
    expect(await refused({ reason: 'x' })).toMatch(/^reason: is why something is changed/);
    expect(await refused({ add_credit_minor: -901, reason: 'x' })).toBe(
      'add_credit_minor: at most 9.00 EUR can be deducted: the whole balance.',
    );
    const operator = await signedIn(OPS);
    const page = `/console/teams/${teamId}`;
    for (const [fields, words] of [
      [{ amount: '-1' }, 'is required to deduct credit'],
      [{ amount: '-9.01', reason: 'x' }, 'At most 9.00 EUR can be deducted'],
      [{ amount: '--1', reason: 'x' }, 'Enter an amount in EUR'],
    ] as const) {
      const answer = await operator.submit(page, `${page}/credit`, fields);
      expect([answer.status, answer.body.includes(words)]).toEqual([400, true]);
    }
    expect((await auditOf(teamId)).length).toBe(1);
    const taken = await answered('updateTeam', call('PATCH', `/teams/${teamId}`, { body: { add_credit_minor: -900, reason: 'all' } }));
    expect(taken).toMatchObject({ balance_minor: 0 });
  });

  test('pages of the audit log follow each other, and an invalid cursor, team or limit is refused', async () => {
    const teamId = await makeTeam();
    for (let i = 0; i < 4; i++) await answered('updateTeam', call('PATCH', `/teams/${teamId}`, { body: { name: `Name ${i}` } }));
    const seen = await listed('listAudit', `/audit?team=${teamId}&limit=2`, 'entries');
    expect(seen).toEqual(await auditOf(teamId));
    expect(seen.length).toBe(5);
    for (const query of ['cursor=1', `cursor=${UNKNOWN}`, 'team=nobody', 'limit=0', 'since=2026-01-01']) {
      expectProblem(await call('GET', `/audit?${query}`), 'validation_error');
    }
  });
});
