// Limits of keys beyond the fronts' table of refusals: behind a proxy, before long bodies, on forward routes, in rate fields.
import { afterAll, expect, test } from 'vitest';
import { answered } from '../../src/index.ts';
import type { KeyChange } from '../../src/ports/team-registry.ts';
import { ask, expectProblem, onOneGateway } from '../support/every-gateway.ts';
import { CREDIT_PLAN, QUOTA_PLAN } from '../support/gateway.ts';
import type { TestTeam } from '../support/gateway.ts';
import { RawConnection, requestBytes } from '../support/raw-http.ts';
import type { HttpResponse } from '../support/raw-http.ts';
import { startUpstream } from '../support/upstream.ts';

const upstream = await startUpstream();
afterAll(() => upstream.close());

const HERE = '203.0.113.9';
const ELSEWHERE = '192.0.2.1';
const config = {
  listen_trusted_proxies: ['127.0.0.1'],
  limits: { unknown_keys_per_minute: 5, rate_limit_headers: true },
  forward: [{ path: '/v1/documents/*', methods: ['GET'], target: upstream.url, charge_characters: 100 }],
};

onOneGateway({ config }, (setting) => {
  const keyWith = async (limits: KeyChange['limits'], plan: Parameters<typeof setting.gateway.team>[0] = QUOTA_PLAN): Promise<TestTeam> => {
    const team = await setting.gateway.team(plan);
    if (limits !== undefined) answered(await setting.gateway.store.teams.updateKey(team.keyId, { limits }));
    return team;
  };
  const get = (key: string, from: string | undefined, path = '/v1/languages', headers = {}): Promise<HttpResponse> =>
    ask(setting, { path, key, headers: { ...(from === undefined ? {} : { 'x-forwarded-for': from }), ...headers } });

  test('the address is the one that the trusted proxy names, as IPv4 or within IPv6, and nobody else can set it', async () => {
    const { key } = await keyWith({ allowedAddresses: ['203.0.113.0/24', '2001:db8::/32'] });
    for (const from of [HERE, `::ffff:${HERE}`, `${ELSEWHERE}, ${HERE}`, '[2001:db8::1]:99'])
      expect((await get(key, from)).status).toBe(200);
    const elsewhere = [ELSEWHERE, `${HERE}, ${ELSEWHERE}`, '2001:db9::1', 'unknown', undefined];
    for (const from of elsewhere) {
      const response = await get(key, from, '/v1/languages', { forwarded: `for=${HERE}`, 'x-real-ip': HERE });
      expectProblem(response, 'unauthorized');
      expect(response.header('www-authenticate')).toBe('Bearer realm="lingate"');
      expect(response.header('ratelimit')).toBeUndefined();
    }
    // More than the limit for unknown keys: known keys do not count there, so others at that address are unaffected.
    expect((await get(`la_live_${'u'.repeat(40)}`, ELSEWHERE)).status).toBe(401);
    expect((await get((await keyWith(undefined)).key, ELSEWHERE)).status).toBe(200);
  });

  test('a refused address changes no last use and takes no slot of any rate', async () => {
    const team = await keyWith({ allowedAddresses: [HERE], requestsPerSecond: 1 }, { ...QUOTA_PLAN, requests_per_second: 1 });
    for (let i = 0; i < 3; i++) expect((await get(team.key, ELSEWHERE)).status).toBe(401);
    const [record] = answered(await setting.gateway.store.teams.listKeys(team.teamId))!;
    expect(record!.lastUsedAtMs).toBeUndefined();
    expect((await get(team.key, HERE)).status).toBe(200);
  });

  test('a long body is read only if key, address and rate are good', async () => {
    const team = await keyWith({ allowedAddresses: [HERE] });
    const asked = { method: 'POST', path: '/v1/translate' } as const;
    const headersFrom = (from: string) => ({
      authorization: `Bearer ${team.key}`,
      'content-type': 'application/json',
      'x-forwarded-for': from,
    });
    const refused = async (from: string): Promise<HttpResponse> => {
      const connection = await RawConnection.open({ port: setting.gateway.port });
      connection.send(requestBytes({ ...asked, headers: { ...headersFrom(from), 'content-length': '200000' } }));
      const response = await connection.response();
      connection.destroy();
      return response;
    };
    const body = `${' '.repeat(40_000)}{"text":["Hello"],"target_lang":"DE"}`;
    // The store asks for the address the first time; then it is sent along.
    for (let i = 0; i < 2; i++) {
      expectProblem(await refused(ELSEWHERE), 'unauthorized');
      expect((await ask(setting, { ...asked, headers: headersFrom(HERE), body })).status).toBe(200);
    }
    for (const [change, words] of [
      [{ limits: { expiresAtMs: 1 } }, /expired/],
      [{ disabled: true }, /disabled/],
    ] as const) {
      answered(await setting.gateway.store.teams.updateKey(team.keyId, change));
      expect(expectProblem(await refused(HERE), 'key_revoked')).toMatch(words);
    }
  });

  test('a forward route reserves within the characters of the key, and sends nothing when refused', async () => {
    const { key } = await keyWith({ characters: 150, allowedAddresses: [HERE] });
    const before = upstream.seen.length;
    expectProblem(await get(key, ELSEWHERE, '/v1/documents/voices'), 'unauthorized');
    expect((await get(key, HERE, '/v1/documents/voices')).status).toBe(200);
    const response = await get(key, HERE, '/v1/documents/voices');
    const fields = { character_limit: 150, overage_cap_minor: 0, period_end: expect.stringMatching(/Z$/) as string };
    expect(expectProblem(response, 'quota_exceeded', fields)).toContain('this key');
    expect(upstream.seen.length - before).toBe(1);
  });

  test('a refusal says in its detail and in the log whose limit it was; the log of admitted requests does not', async () => {
    const bodies = { short: { text: ['Hello'], target_lang: 'DE' }, long: `${' '.repeat(40_000)}{"text":["Hello"],"target_lang":"DE"}` };
    const logged = new Map<string, readonly [code: string, limitOf: string | undefined]>();
    const codeOf = async (team: TestTeam, body: unknown, limitOf?: 'key' | 'team'): Promise<string> => {
      const response = await ask(setting, { method: 'POST', path: '/v1/translate', key: team.key, body });
      const code = response.status === 200 ? 'ok' : String((JSON.parse(response.body) as { code: unknown }).code);
      logged.set(response.header('x-request-id')!, [code, code === 'ok' ? undefined : limitOf]);
      expect([code, response.body.includes('for this key')]).toEqual([code, code !== 'ok' && limitOf === 'key']);
      return code;
    };
    const quick = { ...QUOTA_PLAN, requests_per_second: 1000 };
    const byCharacters = await keyWith({ characters: 5 }, { ...quick, characters: 1000 });
    expect(await codeOf(byCharacters, bodies.short)).toBe('ok');
    expect(await codeOf(byCharacters, bodies.short, 'key')).toBe('quota_exceeded');
    expect(await codeOf(await keyWith({ characters: 500 }, { ...quick, characters: 1 }), bodies.short, 'team')).toBe('quota_exceeded');
    expect(await codeOf(await keyWith({ characters: 500 }, CREDIT_PLAN), bodies.short, 'team')).toBe('credit_exhausted');
    expect(await codeOf(byCharacters, { text: [], target_lang: 'DE' })).toBe('validation_error');
    // Even if it is answered before a long body is read; on a slow machine it may take several tries within the second.
    for (const [limits, plan, of] of [
      [{ requestsPerSecond: 1 }, quick, 'key'],
      [{ requestsPerSecond: 5 }, { ...QUOTA_PLAN, requests_per_second: 1 }, 'team'],
    ] as const) {
      const team = await keyWith(limits, plan);
      for (const body of [bodies.short, bodies.long]) await expect.poll(() => codeOf(team, body, of), { interval: 0 }).toBe('rate_limited');
    }
    const lines = () =>
      setting.gateway.logLines.map((line) => JSON.parse(line) as Record<string, string>).filter(({ request_id: id }) => logged.has(id!));
    await expect.poll(lines).toHaveLength(logged.size);
    for (const { request_id: id, code, limit_of: of } of lines()) expect([id, code, of]).toEqual([id, ...logged.get(id!)!]);
  });

  test('rate fields describe the window that is nearer to its limit, and a 429 of the key has the key’s', async () => {
    const { key } = await keyWith({ requestsPerSecond: 2 }, { ...QUOTA_PLAN, requests_per_second: 50 });
    const answers = await Promise.all(Array.from({ length: 4 }, () => get(key, undefined)));
    for (const response of answers) {
      expect(response.header('ratelimit-policy')).toBe('"key-requests";q=2;w=1');
      if (response.status === 200) continue;
      expect(expectProblem(response, 'rate_limited', { limit: 2 })).toContain('for this key');
      expect([response.header('x-ratelimit-limit'), response.header('ratelimit')]).toEqual(['2', '"key-requests";r=0;t=1']);
    }
    expect(answers.filter(({ status }) => status === 200).length).toBeGreaterThanOrEqual(2);
  });
});
