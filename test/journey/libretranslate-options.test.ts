// The options of `lingate/plugins/libretranslate`: key in the body, CORS, bare language codes, and engines with fewer features.
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { ScriptedEngine } from '../../src/testing/scripted-engine.ts';
import { ask } from '../support/every-gateway.ts';
import type { TestGateway } from '../support/gateway.ts';
import { startedUntil } from '../support/started.ts';

const started = startedUntil(afterEach);
const lasting = startedUntil(afterAll);
let engine: ScriptedEngine;
let gateway: TestGateway;

beforeAll(async () => {
  engine = await lasting.engine();
});

async function start(options: object, config: object = {}): Promise<TestGateway> {
  const plugins = [{ module: 'lingate/plugins/libretranslate', options }];
  return (gateway = await started.gateway({ engineUrls: [engine.url], config: { plugins, ...config } }));
}

const post = (path: string, body: unknown, headers: Readonly<Record<string, string>> = {}, method = 'POST') =>
  ask({ gateway }, { method, path, headers, body: method === 'POST' ? body : undefined });

const HELLO = { q: 'Hello', source: 'en', target: 'de' };

test('without api_key_in_body a key in the body is ignored, and the error does not suggest sending one there', async () => {
  const { key } = await (await start({ api_key_in_body: false })).team();
  const refused = await post('/translate', { ...HELLO, api_key: key });
  expect([refused.status, refused.json()]).toEqual([403, { error: 'No API key was sent. Send it as "Authorization: Bearer <key>".' }]);
  expect((await post('/translate', HELLO, { authorization: `Bearer ${key}` })).status).toBe(200);
  // A body that cannot be parsed has no key in it either.
  const unread = await post('/translate', 'x', { 'content-type': 'text/plain' });
  expect(unread.status).toBe(403);
});

test('with api_key_in_query a key is accepted there, after headers and before the body, and is in no log line', async () => {
  const { key } = await (await start({ api_key_in_query: true })).team();
  const wrong = `la_live_${'x'.repeat(40)}`;
  const send = async (path: string, headers: Readonly<Record<string, string>> = {}, body: object = HELLO) =>
    (await post(path, body, headers)).status;
  expect(await send(`/translate?api_key=${key}`)).toBe(200);
  expect(await send(`/translate?api_key=${key}`, {}, { ...HELLO, api_key: wrong })).toBe(200);
  expect(await send(`/translate?api_key=${wrong}`, {}, { ...HELLO, api_key: key })).toBe(403);
  expect(await send(`/translate?api_key=${wrong}`, { authorization: `Bearer ${key}` })).toBe(200);
  expect(await send('/translate', {}, { ...HELLO, api_key: key })).toBe(200);
  expect(await send(`/translate?api_key=${key}&api_key=${key}`)).toBe(403);
  const noKey = await post('/translate', HELLO);
  expect(noKey.json()).toEqual({
    error: 'No API key was sent. Send it as api_key, or as ?api_key=<key>, or as "Authorization: Bearer <key>".',
  });
  const log = (): string => gateway.logLines.join('');
  // Request lines are written in batches.
  await expect.poll(log).toContain('POST /translate');
  expect(log()).not.toContain(key.slice(8));
  const { key: other } = await (await start({ api_key_in_query: true, api_key_in_body: false })).team();
  expect([await send(`/translate?api_key=${other}`), await send('/translate', {}, { ...HELLO, api_key: other })]).toEqual([200, 403]);
});

test('without cors no answer allows other origins, and a preflight is a wrong method', async () => {
  const { key } = await (await start({ cors: false })).team();
  const answer = await post('/translate', { ...HELLO, api_key: key });
  expect([answer.status, answer.header('access-control-allow-origin')]).toEqual([200, undefined]);
  const preflight = await post('/translate', {}, {}, 'OPTIONS');
  expect([preflight.status, preflight.header('allow')]).toEqual([405, 'POST']);
});

test('with rate fields, answers have those and the ones for browsers', async () => {
  const { key } = await (await start({}, { limits: { rate_limit_headers: true } })).team();
  const answer = await post('/translate', { ...HELLO, api_key: key });
  expect([answer.header('access-control-allow-origin'), answer.header('ratelimit')]).toEqual(['*', expect.stringContaining('r=')]);
});

test('a bare code means the configured variant, in translations and in the list', async () => {
  const { key } = await (await start({ default_variants: { EN: 'EN-US', PT: 'XX' } })).team();
  engine.forget();
  await post('/translate', { ...HELLO, target: 'en', api_key: key });
  expect(JSON.parse(engine.requests[0]!.body)).toMatchObject({ target_lang: 'EN-US' });
  expect((await post('/translate', { ...HELLO, target: 'pt', api_key: key })).status).toBe(400);
  const [first] = (await post('/languages', {}, {}, 'GET')).json() as [{ targets: string[] }];
  expect([first.targets.includes('en'), first.targets.includes('pt'), first.targets.includes('pt-PT')]).toEqual([true, false, true]);
});

test('what the engine cannot do is refused and named: html, and language detection', async () => {
  const { key } = await (await start({}, { engine: { protocol: 'apertium' } })).team();
  const html = await post('/translate', { ...HELLO, format: 'html', api_key: key });
  expect([html.status, html.json()]).toEqual([400, { error: 'html format is not supported by the engine of this service: send text' }]);
  const { key: other } = await (await start({}, { engine: { protocol: 'openai', options: { model: 'm' } } })).team();
  const detection = await post('/detect', { q: 'Hello', api_key: other });
  expect([detection.status, detection.json()]).toEqual([
    400,
    { error: 'The engine of this service does not detect languages: name the source of each translation' },
  ]);
  expect((await post('/frontend/settings', {}, {}, 'GET')).json()).toMatchObject({
    language: { source: { code: 'en' }, target: { code: 'ar' } },
  });
});
