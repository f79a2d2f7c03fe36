// A plugin's own API beside /v1: metered, limited and logged like ours, in its own words, on both listeners and stores.
import { fileURLToPath } from 'node:url';
import { beforeEach, expect, test } from 'vitest';
import { answered } from '../../src/index.ts';
import { singleGlossary } from '../support/door/contracts.ts';
import { CANARY } from '../../src/testing.ts';
import { ask, expectProblem, onOneGateway, oneTeam } from '../support/every-gateway.ts';
import type { Ask } from '../support/every-gateway.ts';
import { QUOTA_PLAN } from '../support/gateway.ts';
import type { TestTeam } from '../support/gateway.ts';
import { request } from '../support/raw-http.ts';
import type { HttpResponse } from '../support/raw-http.ts';

const MODULE = fileURLToPath(new URL('../../config/examples/small-api.ts', import.meta.url));
const ATTEMPT_MS = 500;
const FORM = { 'content-type': 'application/x-www-form-urlencoded' };

/** Checks a failure in the plugin's form; returns its message. */
function expectError(response: HttpResponse, status: number): string {
  expect([response.status, response.header('content-type')]).toEqual([status, 'application/json']);
  const { error, request_id: id } = JSON.parse(response.body) as Record<string, unknown>;
  expect(id).toBe(response.header('x-request-id'));
  expect(response.body).not.toContain(CANARY);
  return String(error);
}

onOneGateway(
  { config: { plugins: [{ module: MODULE, options: { attempt_ms: ATTEMPT_MS } }], engine: { timeout_ms: 20_000 } } },
  (setting) => {
    const team = oneTeam(setting);
    beforeEach(() => setting.engine.forget());

    const small = (body: Readonly<Record<string, unknown>> = {}, more: Partial<Ask> = {}): Promise<HttpResponse> =>
      ask(setting, { method: 'POST', path: '/small/translate', key: team.key, body: { q: 'Hello', target: 'de', ...body }, ...more });

    async function usedBy({ key }: TestTeam): Promise<number> {
      const { body } = await ask(setting, { path: '/small/usage', key });
      return (JSON.parse(body) as { used: number }).used;
    }

    test('JSON and forms are translated and charged, with the key in the fields or in the body', async () => {
      const own = await setting.gateway.team();
      expect((await small({}, { key: own.key })).body).toBe('{"translatedText":"[DE] Hello"}');
      expect((await small({ api_key: own.key }, { key: undefined })).status).toBe(200);
      const form = `q=gr%C3%BC%C3%9Fe+%F0%9F%98%80&target=DE&api_key=${own.key}`;
      const response = await ask(setting, { method: 'POST', path: '/small/translate', headers: FORM, body: form });
      expect(JSON.parse(response.body)).toEqual({ translatedText: '[DE] grüße 😀' });
      await expect.poll(() => usedBy(own)).toBe(5 + 5 + 7);
    });

    test('the key in the fields takes precedence over the one in the body', async () => {
      expectError(await small({ api_key: team.key }, { key: 'la_live_wrong' }), 403);
      expect((await small({ api_key: 'wrong' })).status).toBe(200);
    });

    test('failures come in its own form and status, and charge nothing', async () => {
      const poor = await setting.gateway.team({ ...QUOTA_PLAN, characters: 4 });
      expect(expectError(await small({}, { key: undefined }), 403)).toContain('No API key');
      expect(expectError(await small({ api_key: 'x' }, { key: undefined }), 403)).toContain('malformed');
      expect(expectError(await small({ target: 'xx' }), 400)).toBe('target: is not supported.');
      expect(expectError(await small({}, { key: poor.key }), 403)).toContain('do not cover the request');
      const broken = await ask(setting, {
        method: 'POST',
        path: '/small/translate',
        key: team.key,
        headers: FORM,
        body: 'q=%ff&target=de',
      });
      expect(expectError(broken, 400)).toContain('UTF-8');
      setting.engine.always('not_json');
      const engine = await small();
      expectError(engine, 500);
      expect(engine.header('retry-after')).toBe('5');
      expect(setting.engine.requests).toHaveLength(2);
      expect(await usedBy(poor)).toBe(0);
    });

    test('its two attempts end by its own deadline', async () => {
      setting.engine.always('hang');
      const startedAtMs = performance.now();
      expectError(await small(), 500);
      const tookMs = performance.now() - startedAtMs;
      expect(tookMs).toBeGreaterThan(2 * ATTEMPT_MS - 10);
      // Two attempts of the engine's own 20 seconds would take 40.
      expect(tookMs).toBeLessThan(20_000);
      expect(setting.engine.requests).toHaveLength(2);
    });

    test('it can use the team’s glossaries, and no others', async () => {
      const { teams: _teams, glossaries } = setting.gateway.store;
      const glossary = { glossaryId: '01KA6Q4T1V8E5S0H6N3B7W2XJD', teamId: team.teamId, name: 'Terms', sourceLang: 'EN', targetLang: 'DE' };
      answered(await glossaries.create(singleGlossary({ ...glossary, entries: { a: 'b' } })));
      const path = `/small/glossaries/${glossary.glossaryId}`;
      expect((await ask(setting, { path, key: team.key })).body).toBe('{"name":"Terms"}');
      const other = await setting.gateway.team();
      expectError(await ask(setting, { path, key: other.key }), 404);
      expectError(await ask(setting, { path: '/small/glossaries/x', key: team.key }), 404);
    });

    test('a body is read with every method that allows one; a route without its own error format uses ours', async () => {
      const path = '/small/glossaries/x';
      expect((await ask(setting, { method: 'PATCH', path, body: '12345' })).body).toBe('{"bytes":5}');
      expect((await ask(setting, { path: '/small/echo', headers: FORM, body: 'a=1' })).body).toBe('{"bytes":3}');
      expect((await ask(setting, { path: '/small/echo' })).body).toBe('{"bytes":0}');
      expect(expectError(await ask(setting, { path: '/small/unreachable' }), 500)).toContain('unreachable');
      expect((await ask(setting, { path: '/small/languages' })).body).toContain('"pt-br"');
    });

    test('other paths below it remain unknown, and other methods are refused in its own form', async () => {
      expectProblem(await ask(setting, { path: '/small' }), 'not_found');
      expectProblem(await ask(setting, { path: '/small/translate/' }), 'not_found');
      const wrong = await ask(setting, { path: '/small/translate' });
      expectError(wrong, 405);
      expect(wrong.header('allow')).toBe('POST');
      expect((await ask(setting, { method: 'DELETE', path: '/small/glossaries/x' })).header('allow')).toBe('GET, PATCH');
    });

    test('log and metrics have its routes, with the statuses that it returns', async () => {
      const response = await small({ target: 'xx' });
      const id = response.header('x-request-id')!;
      const line = () => setting.gateway.logLines.flatMap((written) => written.split('\n')).find((entry) => entry.includes(id));
      await expect.poll(line).toBeDefined();
      expect(JSON.parse(line()!)).toMatchObject({
        route: 'POST /small/translate',
        status: 400,
        code: 'invalid_target_lang',
        team_id: team.teamId,
      });
      await small({}, { key: undefined });
      const metrics = await request({ port: setting.gateway.opsPort, path: '/metrics' });
      expect(metrics.body).toMatch(/lingate_requests_total\{route="POST \/small\/translate",status="403",code="unauthorized"\} \d/);
    });

    test('the document and the reference page describe what it declares', async () => {
      const { body } = await request({ port: setting.gateway.opsPort, path: '/openapi.json' });
      const { paths, tags } = JSON.parse(body) as { paths: Record<string, Record<string, Record<string, unknown>>>; tags: unknown[] };
      expect(Object.keys(paths['/small/glossaries/{id}']!)).toEqual(['get', 'patch']);
      expect(paths['/small/translate']!['post']).toMatchObject({
        summary: 'Translate a text',
        requestBody: { content: { 'application/x-www-form-urlencoded': {} } },
      });
      expect(tags).toContainEqual({ name: 'small-api', description: 'Routes of the plugin small-api.' });
      const page = await request({ port: setting.gateway.opsPort, path: '/docs' });
      for (const words of ['<h2>small-api</h2>', '/small/glossaries/{id}', 'The engine returned no usable translation.'])
        expect(page.body).toContain(words);
    });
  },
);
