// The console's forms over both stores: what each refuses, that a form sent twice acts once, and each change's audit line.
import { randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { answered } from '../../src/index.ts';
import { adminClient } from '../support/admin-client.ts';
import { ConsoleVisitor, hiddenFields } from '../support/console-visitor.ts';
import type { Fields } from '../support/console-visitor.ts';
import { onOneGateway } from '../support/every-gateway.ts';
import { CREDIT_PLAN, QUOTA_PLAN } from '../support/gateway.ts';
import type { HttpResponse } from '../support/raw-http.ts';

const TOKEN = randomBytes(24).toString('hex');
const PLANS = { pro: QUOTA_PLAN, prepaid: CREDIT_PLAN, yen: { ...CREDIT_PLAN, currency: 'JPY' } };
const UNKNOWN = '01JD3Q7V6Y8Z0XKQ4T5N2M9HRC';
const KEY = /<code class="secret"[^>]*>(la_(?:live|test)_[A-Za-z0-9]{40})<\/code>/;

onOneGateway({ config: { admin: { token: TOKEN }, plans: PLANS } }, (setting) => {
  const signedIn = () => ConsoleVisitor.signedIn(setting.gateway.opsPort, TOKEN);
  /** Where an answer redirects to, and what that page shows. */
  const seen = async (operator: ConsoleVisitor, answer: HttpResponse): Promise<HttpResponse> => {
    expect([answer.status, answer.body]).toEqual([303, '']);
    return operator.get(answer.header('location')!);
  };
  const makeTeam = async (operator: ConsoleVisitor, fields: Fields = {}): Promise<string> => {
    const answer = await operator.submit('/console/teams/new', '/console/teams', { name: 'Acme', plan: 'pro', ...fields });
    expect(answer.status).toBe(303);
    return answer.header('location')!.split('?')[0]!;
  };
  const idOf = (team: string): string => team.split('/')[3]!;
  const makeKey = async (operator: ConsoleVisitor, team: string, fields: Fields = {}): Promise<string> => {
    await operator.submit(team, `${team}/keys`, { mode: 'live', label: '', ...fields });
    return answered(await setting.gateway.store.teams.listKeys(idOf(team)))!.at(-1)!.keyId;
  };
  const { audits: auditLines } = adminClient(setting, TOKEN);

  describe('sent twice', () => {
    test('a form creates one team', async () => {
      const operator = await signedIn();
      const name = `Twice ${randomBytes(4).toString('hex')}`;
      const fields = { ...hiddenFields((await operator.get('/console/teams/new')).body, '/console/teams'), name, plan: 'pro' };
      const answers = await Promise.all([1, 2, 3].map(() => operator.post('/console/teams', fields)));
      const positions = answers.map((answer) => answer.header('location')!.split('?')[0]);
      expect(new Set(positions).size).toBe(1);
      const found = answered(await setting.gateway.store.teams.pageTeams({ after: undefined, limit: 10, search: name }));
      expect(found.map(({ teamId }) => `/console/teams/${teamId}`)).toEqual([positions[0]]);
      const reply = await Promise.all(answers.map(async (answer) => (await seen(operator, answer)).body));
      expect(reply.every((body) => body.includes('has been created'))).toBe(true);
      expect(reply.filter((body) => body.includes('sent more than once'))).toHaveLength(2);
    });

    test('a form creates one key, and shows it in each of its answers, once', async () => {
      const operator = await signedIn();
      const team = await makeTeam(operator);
      const fields = { ...hiddenFields((await operator.get(team)).body, `${team}/keys`), mode: 'live', label: 'x' };
      const answers = [await operator.post(`${team}/keys`, fields), await operator.post(`${team}/keys`, fields)];
      const keys: (string | undefined)[] = [];
      for (const answer of answers) keys.push(KEY.exec((await seen(operator, answer)).body)?.[1]);
      expect(keys).toEqual([expect.stringMatching(/^la_live_/), keys[0]]);
      expect(await setting.gateway.store.teams.listKeys(idOf(team))).toHaveLength(1);
      for (const answer of answers) expect((await seen(operator, answer)).body).not.toContain(keys[0]);
    });

    test('with other values it is refused, and does nothing', async () => {
      const operator = await signedIn();
      const team = await makeTeam(operator, { plan: 'prepaid' });
      const hidden = hiddenFields((await operator.get(team)).body, `${team}/credit`);
      await operator.post(`${team}/credit`, { ...hidden, amount: '1' });
      expect((await operator.post(`${team}/credit`, { ...hidden, amount: '2' })).status).toBe(400);
      expect(answered(await setting.gateway.store.teams.findTeam(idOf(team)))!.balanceMicro).toBe(100_000_000);
    });

    test('from another session it counts as another form, and its result is not shown there', async () => {
      const [operator, other] = [await signedIn(), await signedIn()];
      const team = await makeTeam(operator);
      const answer = await operator.submit(team, `${team}/keys`, { mode: 'live', label: '' });
      expect((await other.get(answer.header('location')!)).body).not.toMatch(KEY);
      expect((await operator.get(answer.header('location')!)).body).toMatch(KEY);
    });
  });

  describe('an error is shown at its field, the input is kept, and nothing is changed', () => {
    test.each<[string, Fields, string]>([
      ['no name', { name: ' ', plan: 'pro' }, 'This is blank'],
      ['no plan', { name: 'A & "B"' }, 'There is no such plan'],
      ['credit with a quota', { name: 'A & "B"', plan: 'pro', credit: '5' }, 'takes no credit'],
      ['credit that is not an amount', { name: 'A & "B"', plan: 'prepaid', credit: '5,00' }, 'Enter an amount in EUR, for example 50.00'],
      [
        'credit with digits that its currency lacks',
        { name: 'A & "B"', plan: 'yen', credit: '5.00' },
        'Enter an amount in JPY, for example 50.',
      ],
      ['negative credit', { name: 'A & "B"', plan: 'prepaid', credit: '-5' }, 'Enter an amount'],
      ['more credit than is allowed', { name: 'A & "B"', plan: 'prepaid', credit: '999999999999' }, 'more than a team can have'],
    ])('a new team with %s', async (_what, fields, fault) => {
      const operator = await signedIn();
      const before = auditLines().length;
      const answer = await operator.submit('/console/teams/new', '/console/teams', fields);
      expect([answer.status, answer.header('location')]).toEqual([400, undefined]);
      expect(answer.body).toContain(fault);
      expect(answer.body).toContain('aria-invalid="true"');
      if (fields['name']!.includes('&')) expect(answer.body).toContain('value="A &amp; &quot;B&quot;"');
      expect(auditLines()).toHaveLength(before);
    });

    test.each<[string, string, Fields, string]>([
      ['no mode', 'keys', { mode: '', label: 'l' }, 'it must be one of live, test'],
      ['no credit', 'credit', { amount: '0' }, 'an amount other than 0'],
      ['credit that exceeds what a team can have', 'credit', { amount: '90071992.54' }, 'more than a team can have'],
      ['an unknown plan', 'plan', { plan: 'gold' }, 'There is no such plan; the plans are pro, prepaid, yen.'],
    ])('a team with %s', async (_what, action, fields, fault) => {
      const operator = await signedIn();
      const team = await makeTeam(operator, { plan: 'prepaid', credit: '10' });
      const before = answered(await setting.gateway.store.teams.usage(idOf(team)));
      const answer = await operator.submit(team, `${team}/${action}`, fields);
      expect([answer.status, answer.body.includes(fault)]).toEqual([400, true]);
      expect(await setting.gateway.store.teams.usage(idOf(team))).toEqual(before);
    });
  });

  const LIMITS = {
    expires_at: '2099-01-31T18:00:00+01:00',
    requests_per_second: '5',
    characters: ' 100000 ',
    allowed_addresses: '203.0.113.7\r\n\r\n 2001:db8::/32',
    scopes: ' usage:read\r\nforward:voices\r\n',
  };
  const AS_STORED = {
    expiresAtMs: Date.UTC(2099, 0, 31, 17),
    requestsPerSecond: 5,
    characters: 100_000,
    allowedAddresses: ['203.0.113.7/32', '2001:db8::/32'],
    scopes: ['usage:read', 'forward:voices'],
  };
  const recordOf = async (team: string, keyId: string) =>
    answered(await setting.gateway.store.teams.listKeys(idOf(team)))!.find((key) => key.keyId === keyId)!;

  describe('a key’s page', () => {
    test('shows and changes its label and limits, removes them, and changes nothing that was left as it was', async () => {
      const operator = await signedIn();
      const team = await makeTeam(operator);
      const keyId = await makeKey(operator, team);
      const page = `${team}/keys/${keyId}`;
      expect((await operator.get(team)).body).toContain(`href="${page}"`);
      const shown = (await seen(operator, await operator.submit(page, page, { label: 'fair', ...LIMITS }))).body;
      expect(await recordOf(team, keyId)).toMatchObject({ label: 'fair', limits: AS_STORED });
      for (const text of [
        'is saved',
        'value="2099-01-31T17:00:00Z"',
        'value="5"',
        'value="100000"',
        '203.0.113.7/32\n2001:db8::/32',
        'usage:read\nforward:voices',
        'label fair',
      ])
        expect(shown).toContain(text);
      expect((await operator.get(team)).body).toContain(
        'until 2099-01-31T17:00:00Z, 5/s, 100000 characters, from 203.0.113.7/32 2001:db8::/32, only usage:read forward:voices',
      );
      // As a browser returns it: a time that has passed meanwhile is no error if it was not edited.
      answered(await setting.gateway.store.teams.updateKey(keyId, { limits: { expiresAtMs: 1_000_000 } }));
      const as = { expires_at: '1970-01-01T00:16:40Z', requests_per_second: '5', characters: '', allowed_addresses: '' };
      const after = (await seen(operator, await operator.submit(page, page, { label: '', ...as }))).body;
      expect(await recordOf(team, keyId)).toMatchObject({
        label: '',
        status: 'expired',
        limits: { expiresAtMs: 1_000_000, requestsPerSecond: 5 },
      });
      expect(after).toContain('give it a later expiry');
      expect(after).toContain('class="expired"');
    });

    test.each<[string, Fields, readonly string[]]>([
      ['no moment', { expires_at: '2099-01-31' }, ['&quot;2099-01-31&quot; is not an RFC 3339 time with a time zone']],
      ['a time in the past', { expires_at: '2020-01-31T00:00:00Z' }, ['This is in the past']],
      ['an invalid range', { allowed_addresses: '::1\r\n10.0.0.0/<b>' }, ['&quot;10.0.0.0/&lt;b&gt;&quot; is not an address or a range']],
      [
        'several faults',
        { requests_per_second: 'x', characters: 'y', label: 'a\u0007' },
        ['to 100000.', 'to 1000000000000.', 'This holds'],
      ],
    ])('with %s is shown again as it was sent, with the error at its field, and changes nothing', async (_what, fields, faults) => {
      const operator = await signedIn();
      const team = await makeTeam(operator);
      const keyId = await makeKey(operator, team);
      const page = `${team}/keys/${keyId}`;
      const before = auditLines().length;
      const answer = await operator.submit(page, page, { label: 'kept “as” sent', ...fields });
      expect([answer.status, answer.header('location')]).toEqual([400, undefined]);
      for (const fault of faults) expect(answer.body).toContain(fault);
      expect(answer.body.match(/aria-invalid="true"/g)).toHaveLength(faults.length);
      for (const [name, value] of Object.entries(fields))
        if (name !== 'allowed_addresses') expect(answer.body).toContain(`value="${value}"`);
      if (fields['label'] === undefined) expect(answer.body).toContain('value="kept “as” sent"');
      expect([(await recordOf(team, keyId)).limits, auditLines().length]).toEqual([{}, before]);
    });

    test('disables and enables it; a revoked key is shown without links to changes', async () => {
      const operator = await signedIn();
      const team = await makeTeam(operator);
      const keyId = await makeKey(operator, team);
      const page = `${team}/keys/${keyId}`;
      const before = auditLines().length;
      expect((await seen(operator, await operator.submit(page, `${page}/disable`))).body).toContain('its next request is refused');
      expect((await recordOf(team, keyId)).status).toBe('disabled');
      expect((await operator.get(team)).body).toContain('class="disabled"');
      expect((await seen(operator, await operator.submit(page, `${page}/enable`))).body).toContain('is enabled');
      expect((await recordOf(team, keyId)).status).toBe('active');
      const change = { action: 'updateKey', team_id: idOf(team), key_id: keyId };
      expect(auditLines().slice(before)).toMatchObject([change, change]);
      const enable = { ...hiddenFields((await operator.get(page)).body, `${page}/disable`), once: 'later' };
      await operator.submit(`${page}/revoke`, `${page}/revoke`);
      const { body } = await operator.get(page);
      expect(body).toContain('class="revoked"');
      expect(body).not.toContain(`action="${page}`);
      expect((await seen(operator, await operator.post(`${page}/enable`, enable))).body).toContain('which is permanent');
      expect((await recordOf(team, keyId)).status).toBe('revoked');
    });

    test('limits can be set when a key is created, and pass to the key that replaces it', async () => {
      const operator = await signedIn();
      const team = await makeTeam(operator);
      expect((await operator.get(team)).body).toContain('Any other request is a 403 <code>forbidden</code>.');
      const wrong = await operator.submit(team, `${team}/keys`, { mode: 'live', label: '', characters: 'many' });
      expect([wrong.status, /<details\s+open/.test(wrong.body), wrong.body.includes('&quot;many&quot; is not a whole number')]).toEqual([
        400,
        true,
        true,
      ]);
      const old = await makeKey(operator, team, LIMITS);
      expect(await recordOf(team, old)).toMatchObject({ limits: AS_STORED });
      const rotate = `${team}/keys/${old}/rotate`;
      const { body } = await operator.get(rotate);
      for (const text of ['value="2099-01-31T17:00:00Z"', 'value="5"', 'value="100000"', '203.0.113.7/32\n2001:db8::/32'])
        expect(body).toContain(text);
      const rotated = await operator.submit(rotate, rotate, { label: 'new', ...LIMITS, characters: '7' });
      const next = new URL(rotated.header('location')!, 'http://x').searchParams.get('to')!;
      expect(await recordOf(team, next)).toMatchObject({ label: 'new', limits: { ...AS_STORED, characters: 7 } });
    });
  });

  test('unknown teams and keys, and other teams’ keys, have error pages, and nothing is changed', async () => {
    const operator = await signedIn();
    const [team, other] = [await makeTeam(operator), await makeTeam(operator)];
    const foreign = await makeKey(operator, other);
    const token = hiddenFields((await operator.get(team)).body, `${team}/keys`);
    for (const [path, fields] of [
      [`/console/teams/${UNKNOWN}`, undefined],
      ['/console/teams/nobody', undefined],
      [`/console/teams/${UNKNOWN}/keys`, { mode: 'live' }],
      [`/console/teams/${UNKNOWN}/plan`, { plan: 'pro' }],
      [`/console/teams/${UNKNOWN}/name`, { name: 'A' }],
      [`/console/teams/${UNKNOWN}/credit`, { amount: '1' }],
      [`${team}/keys/${foreign}/revoke`, undefined],
      [`${team}/keys/${foreign}/revoke`, {}],
      [`${team}/keys/${foreign}`, undefined],
      [`${team}/keys/${foreign}`, { label: 'x' }],
      [`${team}/keys/${foreign}/disable`, {}],
      [`${team}/keys/${foreign}/rotate`, undefined],
      [`${team}/keys/${foreign}/rotate`, { label: '' }],
      [`${team}/keys/${UNKNOWN}/revoke`, {}],
    ] as const) {
      const once = randomBytes(9).toString('hex');
      const answer = fields === undefined ? await operator.get(path) : await operator.post(path, { ...token, once, ...fields });
      expect([path, answer.status, answer.body.includes('<a href="/docs/errors#not-found"><code>not_found</code></a>')]).toEqual([
        path,
        404,
        true,
      ]);
    }
    expect(answered(await setting.gateway.store.teams.listKeys(idOf(other)))![0]!.status).toBe('active');
  });
});
