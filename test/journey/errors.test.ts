// What every problem is that /v1 answers, on each listener and store: status, media type, every member, fields; and that it costs nothing.
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { newKey } from '../support/door/terms.ts';
import { problems } from '../../src/index.ts';
import { CANARY, status } from '../../src/testing.ts';
import type { ProblemCode } from '../../src/core/problem.ts';
import { ask, onEveryGateway, oneTeam, translateText } from '../support/every-gateway.ts';
import type { Ask } from '../support/every-gateway.ts';
import { CREDIT_PLAN, QUOTA_PLAN } from '../support/gateway.ts';
import type { TestTeam } from '../support/gateway.ts';
import type { HttpResponse } from '../support/raw-http.ts';
import { startRedis } from '../support/redis.ts';
import type { RedisServer } from '../support/redis.ts';
import { refusedRequests } from '../support/refused-requests.ts';
import { startedUntil } from '../support/started.ts';
import { withinASecond } from '../support/within-a-second.ts';

const DOCS = 'https://docs.example/lingate';
const ULID = /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/;
const PLUGIN = { module: fileURLToPath(new URL('../support/plugins/fault.ts', import.meta.url)), options: {} };
const config = { service: { name: 'acme', docs_url: DOCS }, plugins: [PLUGIN] };

/** What a problem says besides, in the answers to `refusedRequests`. */
const MEMBERS: Readonly<Partial<Record<ProblemCode, Readonly<Record<string, unknown>>>>> = {
  too_many_texts: { max_texts: 50 },
  text_too_long: { max_characters: 1000, characters: 1250 },
  quota_exceeded: {
    character_limit: 1,
    overage_cap_minor: 0,
    period_end: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[.\d]*Z$/),
  },
  credit_exhausted: { balance_minor: 0, required_minor: 1, currency: 'EUR' },
  forbidden: { missing_scopes: ['translate:text'] },
  glossary_limit_reached: { max_glossaries: 0 },
};

/** Checks what every problem has, and that there are no members but `members` besides. */
function expectProblem(response: HttpResponse, code: ProblemCode, members: Readonly<Record<string, unknown>> = {}): void {
  const document = JSON.parse(response.body) as Record<string, unknown>;
  expect(document).toEqual({
    type: `${DOCS}/errors#${code.replaceAll('_', '-')}`,
    title: problems[code].title,
    status: problems[code].status,
    code,
    detail: expect.stringMatching(/\S/) as string,
    request_id: expect.stringMatching(ULID) as string,
    ...members,
  });
  expect(response.status).toBe(problems[code].status);
  expect(response.header('content-type')).toBe('application/problem+json');
  expect(response.header('x-request-id')).toBe(document['request_id']);
  expect(response.header('cache-control')).toBe('no-store');
  expect(response.header('server')).toBeUndefined();
  expect(response.header('uwebsockets')).toBeUndefined();
  expect(response.header('www-authenticate')).toBe(code === 'unauthorized' ? 'Bearer realm="acme"' : undefined);
  const waits = ['rate_limited', 'engine_unavailable', 'service_unavailable'].includes(code);
  expect(response.header('retry-after') !== undefined).toBe(waits);
}

onEveryGateway({ config }, (setting) => {
  const team = oneTeam(setting);
  const translate = (more: Partial<Ask> = {}): Promise<HttpResponse> =>
    ask(setting, { method: 'POST', path: '/v1/translate', key: team.key, body: { text: ['Hello'], target_lang: 'DE' }, ...more });
  const nothingChargedTo = ({ teamId }: TestTeam) =>
    expect
      .poll(() => setting.gateway.store.teams.standing(teamId))
      .toMatchObject({ usedCharacters: 0, heldCharacters: 0, heldMicro: 0, openReservations: 0 });

  test('a good request is charged by code points, and marked with its id', async () => {
    const response = await translate({ body: { text: ['Hé👍', 'b'], target_lang: 'de', source_lang: 'en' } });
    expect([response.status, response.header('content-type'), response.header('cache-control')]).toEqual([
      200,
      'application/json',
      'no-store',
    ]);
    expect(response.header('x-request-id')).toMatch(ULID);
    const translation = { text: expect.any(String) as string, detected_source_language: 'EN' };
    expect(response.json()).toEqual({ translations: [translation, translation], billed_characters: 4 });
  });

  test('every refusal is a problem of its code', async () => {
    const asked = await refusedRequests(setting.gateway);
    for (const [code, { route = 'POST /v1/translate', path, ...more }] of asked) {
      const [method = '', own = ''] = route.split(' ');
      expectProblem(await ask(setting, { method, path: path ?? own, ...more }), code, MEMBERS[code]);
    }
  });

  test('what is wrong with a request is told, and charged to nobody', async () => {
    const own = await setting.gateway.team();
    const text = ['a'.repeat(600), '👍'.repeat(401)];
    const tooLong = { max_characters: 1000, characters: 1001 };
    expectProblem(await translate({ key: own.key, body: { text, target_lang: 'DE' } }), 'text_too_long', tooLong);
    expectProblem(await translate({ key: own.key, body: { text, target_lang: 'XX' } }), 'text_too_long', tooLong);
    expectProblem(await translate({ key: own.key, headers: { 'content-type': 'text/plain' } }), 'validation_error');
    expectProblem(await translate({ key: own.key, headers: { 'content-encoding': 'gzip' } }), 'validation_error');
    expectProblem(await translate({ key: own.key, body: '' }), 'validation_error');
    // However many texts there are, an unknown parameter comes first.
    for (const count of [51, 60_000]) {
      const body = { text: Array.from({ length: count }, () => 'a'), target_lang: 'DE', formal: 'more' };
      const response = await translate({ key: own.key, body });
      expectProblem(response, 'validation_error');
      expect(response.body).toContain('Unknown parameter: formal.');
    }
    await nothingChargedTo(own);
  });

  test('401 unauthorized without a key, with a malformed one, with an unknown one', async () => {
    expectProblem(await translate({ key: undefined }), 'unauthorized');
    expectProblem(await translate({ key: 'la_live_short' }), 'unauthorized');
    const elsewhere: Partial<Ask>[] = [
      { headers: { 'x-api-key': team.key } },
      { headers: { 'api-key': team.key } },
      { path: `/v1/translate?key=${team.key}` },
    ];
    for (const misplaced of elsewhere) {
      const response = await translate({ key: undefined, ...misplaced });
      expectProblem(response, 'unauthorized');
      expect(response.body).toContain('belongs in');
      expect(response.body).not.toContain(team.key.slice(0, 12));
    }
    expect((await translate({ key: undefined, path: '/v1/translate?key=la_live_short' })).body).toContain('No API key was sent');
    expectProblem(await translate({ key: newKey('live') }), 'unauthorized');
    expectProblem(await translate({ headers: { authorization: `Basic ${team.key}`, 'vendor-auth-key': team.key } }), 'unauthorized');
  });

  test.each(['vendor-auth-key', 'deepl-auth-key'])('the field %s alone is accepted', async (name) => {
    expect((await translate({ key: undefined, headers: { [name]: team.key } })).status).toBe(200);
  });

  test('402 credit_exhausted: what is left is rounded down, what is needed is rounded up', async () => {
    const { key } = await setting.gateway.team(CREDIT_PLAN, 1);
    // 401 characters at 2,500 minor units per million are 1.0025 minor units.
    const refused = await translateText(setting, key, 'x'.repeat(401));
    expectProblem(refused, 'credit_exhausted', { balance_minor: 1, required_minor: 2, currency: 'EUR' });
    expect((await translateText(setting, key, 'x'.repeat(400))).status).toBe(200);
  });

  test('404 not_found and 405 method_not_allowed come before authentication', async () => {
    for (const path of ['/v1/translate/', '/v1/Translate', '/v2/translate', '/']) {
      expectProblem(await translate({ path, key: undefined }), 'not_found');
    }
    const response = await translate({ method: 'GET', key: undefined, body: '' });
    expectProblem(response, 'method_not_allowed');
    expect(response.header('allow')).toBe('POST');
  });

  test('429 rate_limited, also for a bad body', async () => {
    const responses = await withinASecond(async () => {
      const { key } = await setting.gateway.team({ ...QUOTA_PLAN, requests_per_second: 1 });
      return Promise.all([translate({ key }), translate({ key, body: '{' }), translate({ key })]);
    });
    const limited = responses.filter((response) => response.status === 429);
    expect(limited).toHaveLength(2);
    for (const response of limited) expectProblem(response, 'rate_limited', { limit: 1 });
  });

  test('a bug in a step and an engine that fails reveal nothing, and nothing is charged', async () => {
    const own = await setting.gateway.team();
    const broken = await translate({ key: own.key, headers: { 'x-test-fault': 'throw' } });
    expectProblem(broken, 'internal_error');
    expect(broken.body).not.toContain('fault-plugin');
    setting.engine.behave(status(418), 'not_json');
    const failed = await translate({ key: own.key });
    expectProblem(failed, 'engine_unavailable');
    expect(failed.body).not.toContain(CANARY);
    await nothingChargedTo(own);
  });

  test('the access log has one line per request, and never a text or a key', async () => {
    const own = await setting.gateway.team();
    const response = await translate({ key: own.key, body: { text: ['canary-text'], target_lang: 'DE', context: 'canary-context' } });
    const lines = () => setting.gateway.logLines.filter((line) => line.includes(response.header('x-request-id')!));
    await expect.poll(lines).toHaveLength(1);
    const said = { route: 'POST /v1/translate', status: 200, code: 'ok', team_id: own.teamId, characters: 11, engine_attempts: 1 };
    expect(JSON.parse(lines()[0]!)).toMatchObject(said);
    const everything = setting.gateway.logLines.join('');
    expect(everything).not.toContain('canary');
    expect(everything).not.toContain(own.key);
  });
});

test('503 service_unavailable at once while the store is down, and service when it is back', async () => {
  const started = startedUntil(onTestFinished);
  const { url, redis } = await started.place('redis');
  let again: RedisServer | undefined;
  started.closes(() => again?.stop());
  const gateway = await started.gateway({ store: url, engineUrls: [(await started.engine()).url], config });
  const usage = ({ key }: TestTeam) => ask({ gateway }, { path: '/v1/usage', key });
  const team = await gateway.team();
  await redis!.stop();
  const startedAtMs = performance.now();
  expectProblem(await usage(team), 'service_unavailable');
  // Not after the deadline of the store, which is five seconds here.
  expect(performance.now() - startedAtMs).toBeLessThan(4500);
  again = await startRedis(['--port', String(redis!.port)]);
  await expect.poll(() => gateway.store.ping()).toBeUndefined();
  const fresh = await gateway.team();
  await expect.poll(async () => (await usage(fresh)).status).toBe(200);
});
