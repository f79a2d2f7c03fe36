// The options of `lingate/plugins/azure-v3`: its root, bare codes, engines with fewer features, retries.
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { ScriptedEngine } from '../../../src/testing/scripted-engine.ts';
import type { TestGateway } from '../../support/gateway.ts';
import { LISTENERS } from '../../support/listeners.ts';
import { request } from '../../support/raw-http.ts';
import type { HttpResponse } from '../../support/raw-http.ts';
import { startedUntil } from '../../support/started.ts';

const BELOW = '/translator/text/v3.0';

const started = startedUntil(afterEach);
let engine: ScriptedEngine;
let gateway: TestGateway;

beforeEach(async () => {
  engine = await started.engine();
});

async function start(options: object, config: object = {}, before: readonly object[] = []): Promise<TestGateway> {
  const plugins = [...before, { module: 'lingate/plugins/azure-v3', options }];
  gateway = await started.gateway({ listener: LISTENERS[0], engineUrls: [engine.url], config: { plugins, ...config } });
  return gateway;
}

function post(path: string, key: string, text = 'Hello'): Promise<HttpResponse> {
  const headers = { 'content-type': 'application/json', 'ocp-apim-subscription-key': key };
  return request({ port: gateway.port, method: 'POST', path, headers, body: JSON.stringify([{ Text: text }]) });
}

const get = (path: string): Promise<HttpResponse> => request({ port: gateway.port, path });
const errorOf = (response: HttpResponse): unknown => (response.json() as { error: unknown }).error;

test('together with LibreTranslate’s plugin it refuses to start and says why; with root: false both work', async () => {
  const other = { module: 'lingate/plugins/libretranslate' };
  await expect(start({}, {}, [other])).rejects.toThrow(
    /route "POST \/translate" of plugin "azure-v3": "POST \/translate" of plugin "libretranslate" already has this path; with root: false of plugin "azure-v3" both can be used/,
  );
  const { key } = await (await start({ root: false }, {}, [other])).team();
  expect((await post(`${BELOW}/translate?api-version=3.0&to=de`, key)).json()).toMatchObject([{ translations: [{ text: '[DE] Hello' }] }]);
  expect((await get(`${BELOW}/languages?api-version=3.0`)).json()).toHaveProperty('translation.de');
  expect((await get('/languages')).json()).toContainEqual(expect.objectContaining({ code: 'de' }));
  expect((await post('/translate?api-version=3.0&to=de', key)).json()).toEqual({ error: expect.any(String) as string });
  expect((await get('/breaksentence')).status).toBe(404);
});

test('a bare code means the configured variant, in translations and in the list; traditional Chinese is never answered in simplified', async () => {
  const { key } = await (await start({ default_variants: { EN: 'EN-US', PT: 'XX' } })).team();
  const into = async (to: string): Promise<unknown> => {
    const response = await post(`/translate?api-version=3.0&to=${to}`, key);
    return response.status === 200 ? JSON.parse(engine.requests.at(-1)!.body) : errorOf(response);
  };
  expect(await into('en')).toMatchObject({ target_lang: 'EN-US' });
  expect(await into('zh-hans')).toMatchObject({ target_lang: 'ZH' });
  for (const to of ['pt', 'zh-Hant', 'zh-TW']) expect(await into(to)).toMatchObject({ code: 400_036 });
  // As a source it is there.
  expect((await get('/languages?api-version=3.0&scope=translation')).json()).toHaveProperty('translation.pt');
});

test('what the engine cannot do is refused and named: html, pairs, and language detection', async () => {
  const { key } = await (await start({}, { engine: { protocol: 'apertium', pairs: ['EN-ES'] } })).team();
  expect(errorOf(await post('/translate?api-version=3.0&to=es&from=en&textType=html', key, '<p>a</p>'))).toEqual({
    code: 400_071,
    message: 'textType: the engine of this service does not support html; leave it out.',
  });
  expect(errorOf(await post('/translate?api-version=3.0&to=es&to=pt-pt&from=en', key))).toEqual({
    code: 400_023,
    message: 'to: pt-PT is not offered for texts in en; offered: es.',
  });
  expect((await get('/languages?api-version=3.0&scope=translation')).json()).toEqual({
    translation: {
      en: { name: 'English', nativeName: 'English', dir: 'ltr' },
      es: { name: 'Spanish', nativeName: 'Español', dir: 'ltr' },
    },
  });
  const { key: other } = await (await start({}, { engine: { protocol: 'openai', options: { model: 'm' } } })).team();
  expect(errorOf(await post('/detect?api-version=3.0', other))).toEqual({
    code: 400_000,
    message: 'The engine of this service does not detect languages: name the source of each translation.',
  });
});
