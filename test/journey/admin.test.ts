// The admin API over real sockets: what each operation does. Who has access: evidence/journey/admin-attacks.
import { randomBytes } from 'node:crypto';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { expect, test } from 'vitest';
import { ADMIN_ROUTES, LIVE_STEPS } from '../support/door/tables.ts';
import type { ProblemCode } from '../../src/core/problem.ts';
import { adminClient } from '../support/admin-client.ts';
import type { Json } from '../support/admin-client.ts';
import { ask as askPublic, expectProblem, onOneGateway, translateText } from '../support/every-gateway.ts';
import { request } from '../support/raw-http.ts';

const TOKEN = randomBytes(24).toString('hex');
const PLANS = {
  pro: {
    billing: 'quota',
    requests_per_second: 50,
    max_characters_per_request: 1000,
    max_glossaries: 3,
    characters: 5000,
    period: 'P1M',
    overage_cap_minor: 100,
    overage_minor_per_million: 2000,
    currency: 'EUR',
  },
  prepaid: {
    billing: 'credit',
    requests_per_second: 20,
    max_characters_per_request: 900,
    max_glossaries: 1,
    credit_minor_per_million: 2500,
    currency: 'EUR',
  },
};
const UNKNOWN = '01JD3Q7V6Y8Z0XKQ4T5N2M9HRC';
const CONFIG = { admin: { token: TOKEN }, ops_names: ['ops.internal'], plans: PLANS };

onOneGateway({ config: CONFIG }, (setting) => {
  const { call, answered, listed, audits: auditLines } = adminClient(setting, TOKEN);
  const makeTeam = (name = 'Acme', plan = 'pro', more: Json = {}) =>
    answered('createTeam', call('POST', '/teams', { body: { name, plan, ...more } }));

  test('the plans are those of the configuration', async () => {
    expect(await answered('listPlans', call('GET', '/plans'))).toEqual({
      plans: Object.entries(PLANS).map(([name, numbers]) => ({ name, ...numbers })),
    });
  });

  test('a team is renamed, and an unknown plan in the same change refuses all of it', async () => {
    const id = String((await makeTeam('Before'))['team_id']);
    const detail = expectProblem(await call('PATCH', `/teams/${id}`, { body: { name: 'After', plan: 'none' } }), 'validation_error');
    expect(detail).toBe('plan: there is no such plan; the plans are pro, prepaid.');
    expect(await answered('showTeam', call('GET', `/teams/${id}`))).toMatchObject({ name: 'Before' });
    expect(await answered('updateTeam', call('PATCH', `/teams/${id}`, { body: { name: 'After' } }))).toMatchObject({ name: 'After' });
  });

  test('teams come page by page, in order of creation, and can be found by part of their names', async () => {
    const mark = randomBytes(6).toString('hex');
    const made: string[] = [];
    for (let i = 0; i < 5; i++) made.push(String((await makeTeam(`Page ${mark} ${i}`))['team_id']));
    const seen = await listed('listTeams', `/teams?q=${mark.toUpperCase()}&limit=2`, 'teams');
    expect(seen.map((team) => team['team_id'])).toEqual(made);
  });

  test('a change that is repeated with its Idempotency-Key is made once: credit is added once, and a key is revoked once', async () => {
    const { team_id: id } = await makeTeam('Credit', 'prepaid');
    const headers = { 'idempotency-key': `credit-${randomBytes(4).toString('hex')}` };
    const add = () => answered('updateTeam', call('PATCH', `/teams/${String(id)}`, { body: { add_credit_minor: 500 }, headers }));
    const [first, ...others] = [await add(), ...(await Promise.all([add(), add(), add()]))];
    expect(first).toMatchObject({ balance_minor: 500 });
    for (const other of others) expect(other).toEqual(first);
    expect(await answered('showTeam', call('GET', `/teams/${String(id)}`))).toMatchObject({ balance_minor: 500 });
    expectProblem(await call('PATCH', `/teams/${String(id)}`, { body: { add_credit_minor: 501 }, headers }), 'validation_error');
    expectProblem(await call('POST', '/plans/pro/apply', { headers }), 'validation_error');
  });

  test('every change is one audit line without a secret, and refused ones have none', async () => {
    const before = auditLines().length;
    const id = String((await makeTeam('Audited'))['team_id']);
    const key = await answered('createKey', call('POST', `/teams/${id}/keys`, { body: { mode: 'test' } }));
    await answered('updateTeam', call('PATCH', `/teams/${id}`, { body: { plan: 'prepaid' } }));
    await answered('revokeKey', call('POST', `/keys/${String(key['key_id'])}/revoke`));
    await call('PATCH', `/teams/${id}`, { body: { plan: 'none' } });
    await call('GET', `/teams/${id}`);
    const made = auditLines().slice(before);
    expect(made.map(({ action, team_id, key_id }) => [action, team_id, key_id])).toEqual([
      ['createTeam', id, undefined],
      ['createKey', id, key['key_id']],
      ['updateTeam', id, undefined],
      ['revokeKey', id, key['key_id']],
    ]);
    const log = setting.gateway.logLines.join('');
    for (const secret of [TOKEN, String(key['key'])]) expect(log).not.toContain(secret);
  });

  test('the live window has 180 steps of five seconds, and shows a request within one step', async () => {
    const id = String((await makeTeam())['team_id']);
    const key = String((await answered('createKey', call('POST', `/teams/${id}/keys`, { body: { mode: 'live' } })))['key']);
    expect((await translateText(setting, key, 'four')).status).toBe(200);
    await askPublic(setting, { path: '/v1/usage', key: `la_live_${'x'.repeat(40)}` });
    await askPublic(setting, { path: '/health' });
    const { step_seconds, points } = (await answered('live', call('GET', '/live'))) as { step_seconds: number; points: Json[] };
    expect([step_seconds, points.length]).toEqual([5, LIVE_STEPS]);
    const moments = points.map((point) => Date.parse(String(point['at'])));
    expect(moments.every((at, index) => at % 5000 === 0 && (index === 0 || at === moments[index - 1]! + 5000))).toBe(true);
    const sum = (name: string) => points.reduce((all, point) => all + ((point['requests'] as Record<string, number>)[name] ?? 0), 0);
    expect(sum('ok')).toBeGreaterThanOrEqual(1);
    expect(sum('unauthorized')).toBeGreaterThanOrEqual(1);
    expect(points.reduce((all, point) => all + Number(point['characters']), 0)).toBeGreaterThanOrEqual(4);
    expect(points.at(-1)!['p50_ms'] ?? points.at(-2)!['p50_ms']).toEqual(expect.any(Number));
  });

  test('a caller who leaves while the engine works is no engine failure in the live window; an engine that fails is', async () => {
    const failures = async (): Promise<number> => {
      const { points } = (await answered('live', call('GET', '/live'))) as { points: Json[] };
      return points.reduce((all, point) => all + Number(point['engine_failures']), 0);
    };
    const { key } = await setting.gateway.team();
    const before = await failures();
    setting.engine.behave('hang');
    const abort = new AbortController();
    const asked = setting.engine.requests.length;
    const left = fetch(`http://127.0.0.1:${setting.gateway.port}/v1/translate`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
      body: JSON.stringify({ text: ['Hello'], target_lang: 'DE' }),
      signal: abort.signal,
    });
    await expect.poll(() => setting.engine.requests.length).toBe(asked + 1);
    abort.abort();
    await expect(left).rejects.toThrow('aborted');
    await expect.poll(() => setting.gateway.logLines.some((line) => line.includes('client_closed'))).toBe(true);
    expect(await failures()).toBe(before);
    setting.engine.behave('not_json', 'ok');
    expect((await translateText(setting, key, 'a')).status).toBe(200);
    await expect.poll(failures).toBe(before + 1);
  });

  test.each([
    ['/teams', 'GET, POST'],
    [`/teams/${UNKNOWN}`, 'GET, PATCH, DELETE'],
    [`/teams/${UNKNOWN}/tags/acme`, 'GET, PUT, DELETE'],
  ])('the methods of %s are %s', async (path, allowed) => {
    expect((await call('OPTIONS', path)).header('allow')).toBe(allowed);
  });

  test.each<[string, string, string, unknown, ProblemCode]>([
    ['an unknown path', 'GET', '/nothing', undefined, 'not_found'],
    ['a trailing slash', 'GET', '/teams/', undefined, 'not_found'],
    ['a dot segment', 'GET', '/teams/../plans', undefined, 'not_found'],
    ['an encoded slash', 'GET', '/teams/a%2fb', undefined, 'not_found'],
    ['an invalid id', 'GET', '/teams/nobody', undefined, 'not_found'],
    ['an unknown id', 'GET', `/teams/${UNKNOWN}`, undefined, 'not_found'],
    ['an unknown key', 'POST', `/keys/${UNKNOWN}/revoke`, undefined, 'not_found'],
    ['an unknown plan', 'POST', '/plans/none/apply', undefined, 'not_found'],
    ['an invalid plan name', 'POST', '/teams', { name: 'A', plan: 'none' }, 'validation_error'],
    ['another method', 'DELETE', '/teams', undefined, 'method_not_allowed'],
    ['a limit of 0', 'GET', '/teams?limit=0', undefined, 'validation_error'],
    ['a limit of 201', 'GET', '/teams?limit=201', undefined, 'validation_error'],
    ['an invalid cursor', 'GET', '/teams?cursor=1', undefined, 'validation_error'],
    ['an unknown parameter', 'GET', '/teams?page=2', undefined, 'validation_error'],
    ['no JSON', 'POST', '/teams', '{', 'validation_error'],
    ['a list', 'POST', '/teams', [], 'validation_error'],
    ['no name', 'POST', '/teams', { plan: 'pro' }, 'validation_error'],
    ['a blank name', 'POST', '/teams', { name: '  ', plan: 'pro' }, 'validation_error'],
    ['a name with a line break', 'POST', '/teams', { name: 'a\nb', plan: 'pro' }, 'validation_error'],
    ['a name of 101 characters', 'POST', '/teams', { name: 'a'.repeat(101), plan: 'pro' }, 'validation_error'],
    ['an unknown member', 'POST', '/teams', { name: 'A', plan: 'pro', credits: 1 }, 'validation_error'],
    ['credit on a quota plan', 'POST', '/teams', { name: 'A', plan: 'pro', credit_minor: 1 }, 'validation_error'],
    ['credit that is not an integer', 'POST', '/teams', { name: 'A', plan: 'prepaid', credit_minor: 1.5 }, 'validation_error'],
    ['an unknown key to change', 'PATCH', `/keys/${UNKNOWN}`, { disabled: true }, 'not_found'],
    ['an invalid key', 'PATCH', '/keys/find', { disabled: true }, 'not_found'],
    ['an empty change of a key', 'PATCH', `/keys/${UNKNOWN}`, {}, 'validation_error'],
    ['a team of the body beside that of the path', 'PATCH', `/teams/${UNKNOWN}`, { id: 'B', name: 'A' }, 'validation_error'],
    ['a plan of the body beside that of the path', 'POST', '/plans/pro/apply', { name: 'free' }, 'validation_error'],
    ['a body that is too large', 'POST', '/teams', `{"name":"${'a'.repeat(20_000)}"}`, 'validation_error'],
  ])('%s is refused', async (_what, method, path, body, code) => {
    const detail = expectProblem(await call(method, path, { body }), code);
    expect(detail).not.toBe('');
  });

  test('a value that is none of a list is refused with the list', async () => {
    const body = { when: 'later' };
    expect(expectProblem(await call('POST', '/plans/pro/apply', { body }), 'validation_error')).toBe(
      'when: "later" is not one of now, next-period, never.',
    );
  });

  test.each<[string, object, string]>([
    ['a time without a zone', { expires_at: '2099-01-01T00:00:00' }, 'expires_at: "2099-01-01T00:00:00" is not an RFC 3339 time'],
    ['a time in the past', { expires_at: '2020-01-01T00:00:00Z' }, 'expires_at: is in the past: it is 20'],
    ['a time as a number', { expires_at: 4_070_908_800 }, 'expires_at: 4070908800 is not an RFC 3339 time'],
    ['a rate of 0', { requests_per_second: 0 }, 'requests_per_second: 0 is too small; it must be at least 1.'],
    ['a rate in a string', { requests_per_second: '5' }, 'requests_per_second: "5" is not a whole number from 1 to 100000.'],
    ['half a character', { characters: 1.5 }, 'characters: 1.5 is not a whole number from 1 to 1000000000000.'],
    ['no scopes', { scopes: [] }, 'scopes: has too few entries'],
    ['scopes that are no list', { scopes: 'usage:read' }, 'scopes: "usage:read" is not a list'],
    ['an unknown scope', { scopes: ['usage:read', 'usage:write'] }, 'scopes[1]: "usage:write" is not a scope; scopes are translate:text, '],
    ['no addresses', { allowed_addresses: [] }, 'allowed_addresses: has too few entries'],
    ['an address that is not a list', { allowed_addresses: '10.0.0.0/8' }, 'allowed_addresses: "10.0.0.0/8" is not a list'],
    [
      'an invalid range',
      { allowed_addresses: ['::1', '10.0.0.0/33'] },
      'allowed_addresses[1]: "10.0.0.0/33" is not an address or a range such as',
    ],
    ['a word for a boolean', { disabled: 'yes' }, 'disabled: '],
    ['a label with a line break', { label: 'a\nb' }, 'label: holds a control character'],
    ['a label that is null', { label: null }, 'label: '],
  ])('of a key, %s is refused in a line that names it, on creation and on change', async (_what, members, detail) => {
    const id = String((await makeTeam())['team_id']);
    const made = await answered('createKey', call('POST', `/teams/${id}/keys`, { body: { mode: 'live' } }));
    const before = auditLines().length;
    for (const [method, path, body] of [
      ['POST', `/teams/${id}/keys`, { mode: 'live', ...members }],
      ['PATCH', `/keys/${String(made['key_id'])}`, members],
    ] as const) {
      const answer = expectProblem(await call(method, path, { body }), 'validation_error');
      expect(answer.startsWith(detail)).toBe(true);
      expect(answer).not.toContain('\n');
    }
    expectProblem(await call('PATCH', `/keys/${String(made['key_id'])}`, { body: { mode: 'test' } }), 'validation_error');
    const { keys } = (await answered('listKeys', call('GET', `/teams/${id}/keys`))) as { keys: Json[] };
    expect([keys.length, auditLines().length]).toEqual([1, before]);
  });

  test('a key is limited, disabled, enabled and freed; each change is one audit entry, and what changes nothing has none', async () => {
    const id = String((await makeTeam())['team_id']);
    const body = { mode: 'live', label: 'a', disabled: true, characters: 100, requests_per_second: null };
    const made = await answered('createKey', call('POST', `/teams/${id}/keys`, { body }));
    const keyId = String(made['key_id']);
    expect(made).toMatchObject({ characters: 100 });
    expect(made).not.toHaveProperty('requests_per_second');
    const answer = async () => (await askPublic(setting, { path: '/v1/usage', key: String(made['key']) })).status;
    expect(await answer()).toBe(401);
    const patch = (members: object, headers = {}) => answered('updateKey', call('PATCH', `/keys/${keyId}`, { body: members, headers }));
    const before = auditLines().length;
    expect(await patch({ disabled: false, allowed_addresses: ['10.0.0.0/8'] })).toMatchObject({
      team_id: id,
      status: 'active',
      characters: 100,
      allowed_addresses: ['10.0.0.0/8'],
    });
    expect(await answer()).toBe(401);
    const once = { 'idempotency-key': `free-${keyId}` };
    const freed = await patch({ allowed_addresses: null, characters: null, label: 'b' }, once);
    expect(Object.keys(freed)).toEqual(['team_id', 'key_id', 'display', 'label', 'mode', 'status', 'created_at', 'last_used_at']);
    expect(await answer()).toBe(200);
    await patch({ disabled: true });
    expect(await answer()).toBe(401);
    // The first answer, and nothing is done again.
    expect(await patch({ allowed_addresses: null, characters: null, label: 'b' }, once)).toEqual(freed);
    expectProblem(await call('PATCH', `/keys/${keyId}`, { body: { disabled: false }, headers: once }), 'validation_error');
    expect(await answer()).toBe(401);
    await patch({ disabled: true, expires_at: null });
    expect(auditLines().slice(before)).toHaveLength(4);
    const { entries } = (await answered('listAudit', call('GET', `/audit?team=${id}`))) as { entries: Json[] };
    expect(entries.filter(({ action }) => action === 'updateKey').map((entry) => [entry['before'], entry['after']])).toEqual([
      [{ status: 'active' }, { status: 'disabled' }],
      [{ label: 'a', characters: 100, allowed_addresses: expect.anything() as unknown }, { label: 'b' }],
      [{ status: 'disabled' }, { status: 'active', allowed_addresses: expect.anything() as unknown }],
      [{ status: 'active' }, { status: 'disabled' }],
    ]);
  });

  test('its OpenAPI document is valid, and names every route', async () => {
    const { body } = await request({ port: setting.gateway.opsPort, path: '/admin/openapi.json', headers: { host: 'localhost' } });
    const config = await createConfig({ extends: ['recommended'] });
    const found = await lintFromString({ source: body, config, absoluteRef: 'openapi.json' });
    expect(found.filter(({ severity }) => severity === 'error').map(({ message }) => message)).toEqual([]);
    const { paths } = JSON.parse(body) as { paths: Record<string, Record<string, { operationId: string }>> };
    const ids = Object.values(paths).flatMap((item) => Object.values(item).map(({ operationId }) => operationId));
    expect(ids.toSorted()).toEqual(ADMIN_ROUTES.map(({ id }) => id).toSorted());
  });

  test('it answers under each of its own names, and no other', async () => {
    const status = async (host: string) => (await call('GET', '/plans', { headers: { host } })).status;
    for (const name of ['ops.internal', `localhost:${setting.gateway.opsPort}`, `[::1]:${setting.gateway.opsPort}`]) {
      expect(await status(name)).toBe(200);
    }
    expect(await status(`evil.example:${setting.gateway.opsPort}`)).toBe(421);
  });
});
