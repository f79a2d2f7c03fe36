// The options of `lingate/plugins/azure-v3` and the manual's examples: its root, bare codes, engines with fewer features, retries.
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { startScriptedEngine } from '../../../src/testing.ts';
import type { ScriptedEngine } from '../../../src/testing/scripted-engine.ts';
import { startGateway } from '../../support/gateway.ts';
import type { TestGateway } from '../../support/gateway.ts';
import { LISTENERS } from '../../support/listeners.ts';
import { codeBlocks, manualPage, manualSection } from '../../support/manual.ts';
import { request } from '../../support/raw-http.ts';
import type { HttpResponse } from '../../support/raw-http.ts';
import { outputOf } from '../../support/start-program.ts';

const ADDRESS = 'http://127.0.0.1:8080';
const BELOW = '/translator/text/v3.0';

let engine: ScriptedEngine;
let folder: string;
let gateway: TestGateway | undefined;

beforeAll(async () => {
  engine = await startScriptedEngine();
  folder = await mkdtemp(join(tmpdir(), 'lingate-azure-'));
  await symlink(fileURLToPath(new URL('../../../node_modules', import.meta.url)), join(folder, 'node_modules'));
});

afterEach(async () => {
  await gateway?.stop();
  gateway = undefined;
  engine.forget();
});

afterAll(async () => {
  await engine.close();
  await rm(folder, { recursive: true, force: true });
});

async function start(options: object, config: object = {}, before: readonly object[] = []): Promise<TestGateway> {
  const plugins = [...before, { module: 'lingate/plugins/azure-v3', options }];
  const store = `sqlite:${folder}/lingate.db`;
  gateway = await startGateway({ listener: LISTENERS[0], store, engineUrls: [engine.url], config: { plugins, ...config } });
  return gateway;
}

function post(path: string, key: string, text = 'Hello'): Promise<HttpResponse> {
  const headers = { 'content-type': 'application/json', 'ocp-apim-subscription-key': key };
  return request({ port: gateway!.port, method: 'POST', path, headers, body: JSON.stringify([{ Text: text }]) });
}

const get = (path: string): Promise<HttpResponse> => request({ port: gateway!.port, path });
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
  await gateway!.stop();
  const { key: other } = await (await start({}, { engine: { protocol: 'openai', options: { model: 'm' } } })).team();
  expect(errorOf(await post('/detect?api-version=3.0', other))).toEqual({
    code: 400_000,
    message: 'The engine of this service does not detect languages: name the source of each translation.',
  });
});

test('every example of the manual does what it says', async () => {
  const { key, teamId } = await (await start({})).team();
  const address = `http://127.0.0.1:${gateway!.port}`;
  const env = { ...process.env, LINGATE_KEY: key };
  const typed = async (line: string): Promise<unknown> =>
    JSON.parse(await outputOf('sh', ['-c', line.replaceAll(ADDRESS, address)], { env, uses: ['curl'] }));
  // Each line is an example of its own.
  const lines = codeBlocks(manualPage('azure-api'), 'sh').flatMap((block) => block.trimEnd().split('\n'));
  expect(await Promise.all(lines.map(typed))).toEqual([
    [{ translations: [{ text: '[DE] Hello, world!', to: 'de' }] }],
    [
      { detectedLanguage: { language: 'en', score: 1 }, translations: [expect.anything(), { text: '[FR] Hello', to: 'fr' }] },
      { translations: [expect.anything(), { text: '', to: 'fr' }] },
    ],
    { value: [{ translations: [{ language: 'de', text: '[DE] Hello', sourceCharacters: 5 }] }] },
    [{ language: 'en', score: 1, isTranslationSupported: true, isTransliterationSupported: false }],
    { translation: expect.objectContaining({ de: { name: 'German', nativeName: 'Deutsch', dir: 'ltr' } }) as object },
  ]);
  const [program] = codeBlocks(manualSection('azure-api', "Azure's SDK for Node"), 'js');
  await writeFile(join(folder, 'lines.mjs'), program!.replace(ADDRESS, address));
  expect((await outputOf('node', ['lines.mjs'], { cwd: folder, env })).trimEnd()).toBe('[DE] Hello, world!');
  await expect
    .poll(async () => (await gateway!.store.teams.standing(teamId)) as object)
    .toMatchObject({ usedCharacters: 13 + 10 + 5 + 13 });
});
