// Every row of the Errors table that /v1/translate can produce: status, media type, every member, fields; on both listeners and stores.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newKey } from '../support/door/terms.ts';
import { answered, problems } from '../../src/index.ts';
import { CANARY, startScriptedEngine, status } from '../../src/testing.ts';
import type { ProblemCode } from '../../src/core/problem.ts';
import { CREDIT_PLAN, QUOTA_PLAN, startGateway } from '../support/gateway.ts';
import type { TestGateway, TestTeam } from '../support/gateway.ts';
import { request } from '../support/raw-http.ts';
import type { HttpResponse } from '../support/raw-http.ts';
import { startRedis } from '../support/redis.ts';
import type { RedisServer } from '../support/redis.ts';
import type { ScriptedEngine } from '../../src/testing/scripted-engine.ts';
import { COMBINATIONS } from '../support/every-gateway.ts';
import { withinASecond } from '../support/within-a-second.ts';

const DOCS = 'https://docs.example/lingate';
const ULID = /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/;
const FAULT_PLUGIN = fileURLToPath(new URL('../support/plugins/fault.ts', import.meta.url));

describe.each(COMBINATIONS)('$listener listener, $store store', ({ listener, store }) => {
  let gateway: TestGateway;
  let engine: ScriptedEngine;
  let redis: RedisServer | undefined;
  let folder: string;
  let team: TestTeam;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'lingate-errors-'));
    engine = await startScriptedEngine();
    redis = store === 'redis' ? await startRedis() : undefined;
    const config = { service: { name: 'acme', docs_url: DOCS }, plugins: [{ module: FAULT_PLUGIN, options: {} }] };
    gateway = await startGateway({ listener, store: redis?.url ?? `sqlite:${folder}/lingate.db`, engineUrls: [engine.url], config });
    team = await gateway.team();
  });

  afterAll(async () => {
    await gateway.stop();
    await engine.close();
    await redis?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  interface Ask {
    readonly method?: string;
    readonly path?: string;
    readonly key?: string | undefined;
    readonly headers?: Readonly<Record<string, string>>;
    readonly body?: unknown;
  }

  function translate(ask: Ask = {}): Promise<HttpResponse> {
    const key = 'key' in ask ? ask.key : team.key;
    const body = ask.body ?? { text: ['Hello'], target_lang: 'DE' };
    return request({
      port: gateway.port,
      method: ask.method ?? 'POST',
      path: ask.path ?? '/v1/translate',
      headers: { 'content-type': 'application/json', ...(key === undefined ? {} : { authorization: `Bearer ${key}` }), ...ask.headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
  }

  /** Checks what every problem has, and that there are no members but `fields` besides. */
  function expectProblem(response: HttpResponse, code: ProblemCode, fields: Readonly<Record<string, unknown>> = {}): void {
    const document = JSON.parse(response.body) as Record<string, unknown>;
    expect(document).toEqual({
      type: `${DOCS}/errors#${code.replaceAll('_', '-')}`,
      title: problems[code].title,
      status: problems[code].status,
      code,
      detail: expect.stringMatching(/\S/) as string,
      request_id: expect.stringMatching(ULID) as string,
      ...fields,
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

  async function nothingChargedTo(charged: TestTeam): Promise<void> {
    await expect
      .poll(() => gateway.store.teams.standing(charged.teamId))
      .toMatchObject({ usedCharacters: 0, heldCharacters: 0, heldMicro: 0, openReservations: 0 });
  }

  test('a good request is translated, charged by code points, and marked with its id', async () => {
    const fresh = await gateway.team();
    const response = await translate({ key: fresh.key, body: { text: ['Hé👍', 'b'], target_lang: 'de', source_lang: 'en' } });
    expect(response.status).toBe(200);
    expect(response.header('content-type')).toBe('application/json');
    expect(response.header('cache-control')).toBe('no-store');
    expect(response.header('x-request-id')).toMatch(ULID);
    const body = JSON.parse(response.body) as {
      translations: { text: string; detected_source_language: string }[];
      billed_characters: number;
    };
    expect(Object.keys(body)).toEqual(['translations', 'billed_characters']);
    expect(body.billed_characters).toBe(4);
    expect(body.translations).toHaveLength(2);
    expect(body.translations.every((translation) => translation.detected_source_language === 'EN')).toBe(true);
    await expect.poll(() => gateway.store.teams.standing(fresh.teamId)).toMatchObject({ usedCharacters: 4, heldCharacters: 0 });
  });

  test.each<[ProblemCode, unknown, Record<string, unknown>]>([
    ['validation_error', { text: [''], target_lang: 'DE' }, {}],
    ['validation_error', '{', {}],
    ['validation_error', { text: ['a'], target_lang: 'DE', formal: 'more' }, {}],
    ['validation_error', { text: ['a'], target_lang: 'UK', formality: 'more' }, {}],
    ['validation_error', { text: ['a'], target_lang: 'DE', context: 'x'.repeat(2001) }, {}],
    ['validation_error', { text: ['a'], target_lang: 'DE', glossary_id: '01ARZ3NDEKTSV4RRFFQ69G5FAV' }, {}],
    ['validation_error', { text: ['a'], target_lang: 'DE', source_lang: 'EN', glossary_id: '01ARZ3NDEKTSV4RRFFQ69G5FAV' }, {}],
    ['invalid_target_lang', { text: ['a'], target_lang: 'EN' }, {}],
    ['invalid_source_lang', { text: ['a'], target_lang: 'DE', source_lang: 'EN-GB' }, {}],
    ['too_many_texts', { text: Array.from({ length: 51 }, () => 'a'), target_lang: 'DE' }, { max_texts: 50 }],
    ['text_too_long', { text: ['a'.repeat(600), '👍'.repeat(401)], target_lang: 'DE' }, { max_characters: 1000, characters: 1001 }],
    ['text_too_long', { text: ['a'.repeat(1001)], target_lang: 'XX' }, { max_characters: 1000, characters: 1001 }],
  ])('400 %s for %j', async (code, body, fields) => {
    const fresh = await gateway.team();
    expectProblem(await translate({ key: fresh.key, body }), code, fields);
    await nothingChargedTo(fresh);
  });

  test('an unknown parameter is reported before too many texts, however many there are', async () => {
    for (const count of [51, 60_000]) {
      const body = { text: Array.from({ length: count }, () => 'a'), target_lang: 'DE', formal: 'more' };
      const response = await translate({ body });
      expectProblem(response, 'validation_error');
      expect(response.body).toContain('Unknown parameter: formal.');
    }
  });

  test('400 for another media type, a content coding, and no body', async () => {
    expectProblem(await translate({ headers: { 'content-type': 'text/plain' } }), 'validation_error');
    expectProblem(await translate({ headers: { 'content-encoding': 'gzip' } }), 'validation_error');
    expectProblem(await translate({ body: '' }), 'validation_error');
  });

  test('401 unauthorized without a key, with a malformed one, with an unknown one', async () => {
    expectProblem(await translate({ key: undefined }), 'unauthorized');
    expectProblem(await translate({ key: 'la_live_short' }), 'unauthorized');
    const elsewhere: Parameters<typeof translate>[0][] = [
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

  test('401 key_revoked at the next request, whatever the body says, though the key was cached', async () => {
    const revoked = await gateway.team();
    expect((await translate({ key: revoked.key })).status).toBe(200);
    answered(await gateway.store.teams.revokeKey(revoked.keyId));
    expectProblem(await translate({ key: revoked.key }), 'key_revoked');
    expectProblem(await translate({ key: revoked.key, body: '{' }), 'key_revoked');
  });

  test('402 quota_exceeded, and only characters that were delivered count', async () => {
    const small = await gateway.team({ ...QUOTA_PLAN, characters: 10 });
    expect((await translate({ key: small.key, body: { text: ['12345678'], target_lang: 'DE' } })).status).toBe(200);
    const response = await translate({ key: small.key, body: { text: ['123'], target_lang: 'DE' } });
    expectProblem(response, 'quota_exceeded', {
      character_limit: 10,
      overage_cap_minor: 0,
      period_end: expect.stringMatching(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{3})?Z$/),
    });
    expect((await translate({ key: small.key, body: { text: ['12'], target_lang: 'DE' } })).status).toBe(200);
  });

  test('402 credit_exhausted: what is left is rounded down, what is needed is rounded up', async () => {
    const poor = await gateway.team(CREDIT_PLAN, 1);
    // 401 characters at 2,500 minor units per million are 1.0025 minor units.
    const response = await translate({ key: poor.key, body: { text: ['x'.repeat(401)], target_lang: 'DE' } });
    expectProblem(response, 'credit_exhausted', { balance_minor: 1, required_minor: 2, currency: 'EUR' });
    expect((await translate({ key: poor.key, body: { text: ['x'.repeat(400)], target_lang: 'DE' } })).status).toBe(200);
    expectProblem(await translate({ key: poor.key }), 'credit_exhausted', { balance_minor: 0, required_minor: 1, currency: 'EUR' });
  });

  test('404 not_found and 405 method_not_allowed come before authentication', async () => {
    for (const path of ['/v1/translate/', '/v1/Translate', '/v2/translate', '/']) {
      expectProblem(await translate({ path, key: undefined }), 'not_found');
    }
    const response = await translate({ method: 'GET', key: undefined, body: '' });
    expectProblem(response, 'method_not_allowed');
    expect(response.header('allow')).toBe('POST');
  });

  test('429 rate_limited, also for a bad body, with its limit in body and field', async () => {
    const responses = await withinASecond(async () => {
      const { key } = await gateway.team({ ...QUOTA_PLAN, requests_per_second: 1 });
      return Promise.all([translate({ key }), translate({ key, body: '{' }), translate({ key })]);
    });
    const limited = responses.filter((response) => response.status === 429);
    expect(limited).toHaveLength(2);
    for (const response of limited) {
      expectProblem(response, 'rate_limited', { limit: 1 });
      expect(response.header('retry-after')).toBe('1');
      expect(response.header('x-ratelimit-limit')).toBe('1');
    }
  });

  test('500 internal_error for a bug in a step: no detail of it is revealed, nothing is charged', async () => {
    const fresh = await gateway.team();
    const response = await translate({ key: fresh.key, headers: { 'x-test-fault': 'throw' } });
    expectProblem(response, 'internal_error');
    expect(response.body).not.toContain('fault-plugin');
    await nothingChargedTo(fresh);
  });

  test('503 engine_unavailable after two attempts: nothing of the engine is revealed, nothing is charged', async () => {
    const fresh = await gateway.team();
    const before = engine.requests.length;
    engine.behave(status(418), 'not_json');
    const response = await translate({ key: fresh.key });
    expectProblem(response, 'engine_unavailable');
    expect(response.header('retry-after')).toBe('5');
    expect(response.body).not.toContain(CANARY);
    expect(engine.requests.length - before).toBe(2);
    await nothingChargedTo(fresh);
  });

  test('the access log has one line per request, and never a text or a key', async () => {
    const fresh = await gateway.team();
    const response = await translate({ key: fresh.key, body: { text: ['canary-text'], target_lang: 'DE', context: 'canary-context' } });
    const id = response.header('x-request-id')!;
    await expect.poll(() => gateway.logLines.filter((line) => line.includes(id))).toHaveLength(1);
    const entry = JSON.parse(gateway.logLines.find((line) => line.includes(id))!) as Record<string, unknown>;
    expect(entry).toMatchObject({
      route: 'POST /v1/translate',
      status: 200,
      code: 'ok',
      team_id: fresh.teamId,
      characters: 11,
      engine_attempts: 1,
    });
    const everything = gateway.logLines.join('');
    expect(everything).not.toContain('canary');
    expect(everything).not.toContain(fresh.key);
  });

  if (store !== 'redis') return;

  test('503 service_unavailable at once while the store is down, and service when it is back', async () => {
    const { port } = redis!;
    await redis!.stop();
    const startedAtMs = performance.now();
    const response = await translate();
    expectProblem(response, 'service_unavailable');
    expect(response.header('retry-after')).toBe('5');
    // Not after the deadline of the store, which is five seconds here.
    expect(performance.now() - startedAtMs).toBeLessThan(4500);
    redis = await startRedis(['--port', String(port)]);
    await expect.poll(() => gateway.store.ping()).toBeUndefined();
    const fresh = await gateway.team();
    await expect.poll(async () => (await translate({ key: fresh.key })).status).toBe(200);
  });
});
