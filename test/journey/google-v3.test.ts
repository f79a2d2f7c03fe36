// Google's client for version 3 of its API, unchanged, by REST, with `lingate/plugins/google-v3`; and what it cannot send.
import { createRequire } from 'node:module';
import type * as GoogleV3 from '@google-cloud/translate/build/src/v3/index.js';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { CANARY } from '../../src/testing.ts';
import { ask, onOneGateway, oneTeam } from '../support/every-gateway.ts';
import { CREDIT_PLAN, QUOTA_PLAN } from '../support/gateway.ts';
import type { HttpResponse } from '../support/raw-http.ts';
import { withinASecond } from '../support/within-a-second.ts';

const { TranslationServiceClient } = createRequire(import.meta.url)('@google-cloud/translate/build/src/v3/index.js') as typeof GoogleV3;

const PARENT = 'projects/any/locations/global';
/** Names of gRPC's statuses by their numbers, which its errors have. */
const CODES = { INVALID_ARGUMENT: 3, NOT_FOUND: 5, PERMISSION_DENIED: 7, RESOURCE_EXHAUSTED: 8, UNAVAILABLE: 14 } as const;

const CONFIG = { plugins: [{ module: 'lingate/plugins/google-v3' }, { module: 'lingate/plugins/google-v2' }] };
/** It reads its descriptions of the API when it is made, which takes seconds: each listener and each store once, with one client. */
const LOADING_MS = 60_000;

onOneGateway({ config: CONFIG }, (setting) => {
  const team = oneTeam(setting);
  let client: GoogleV3.TranslationServiceClient;

  beforeAll(async () => {
    const { port } = setting.gateway;
    client = new TranslationServiceClient({ fallback: true, apiKey: team.key, apiEndpoint: '127.0.0.1', port, protocol: 'http' });
    await client.initialize();
  }, LOADING_MS);
  beforeEach(() => setting.engine.forget());

  /** The key of another team: a bearer token takes precedence. */
  const as = (key: string) => ({ otherArgs: { headers: { authorization: `Bearer ${key}` } } });
  const sent = (): unknown[] => setting.engine.requests.map(({ body }) => JSON.parse(body) as unknown);
  const failing = (call: Promise<unknown>): Promise<unknown> => call.catch((error: unknown) => error);
  const post = (operation: string, body: unknown, key = team.key): Promise<HttpResponse> =>
    ask(setting, { method: 'POST', path: `/v3/projects/p${operation}`, headers: { 'x-goog-api-key': key }, body });
  const refusalOf = async (body: object): Promise<string> => {
    const response = await post(':translateText', { contents: ['a'], targetLanguageCode: 'de', ...body });
    const { error } = response.json() as { error: { code: number; message: string; status: string } };
    expect([response.status, error.code, error.status]).toEqual([400, 400, 'INVALID_ARGUMENT']);
    return error.message;
  };

  describe('its client', () => {
    test('translates texts, with and without a location', async () => {
      const own = await setting.gateway.team();
      const request = { contents: ['Hello', '', 'you'], targetLanguageCode: 'fr', mimeType: 'text/plain' };
      const [found] = await client.translateText(
        { ...request, parent: PARENT, sourceLanguageCode: 'en', labels: { customer: 'acme' } },
        as(own.key),
      );
      expect(found.translations!.map((one) => one.translatedText)).toEqual(['[FR] Hello', '', '[FR] you']);
      const [detected] = await client.translateText({ ...request, parent: 'projects/any' }, as(own.key));
      expect(detected.translations![0]).toMatchObject({ translatedText: '[FR] Hello', detectedLanguageCode: 'en' });
      const [html] = await client.translateText({ parent: PARENT, contents: ['<p>a</p>'], targetLanguageCode: 'zh-CN' }, as(own.key));
      expect(html.translations![0]!.translatedText).toBe('[ZH] <p>a</p>');
      expect(sent()).toEqual([
        { text: ['Hello', 'you'], source_lang: 'EN', target_lang: 'FR' },
        { text: ['Hello', 'you'], target_lang: 'FR' },
        { text: ['<p>a</p>'], target_lang: 'ZH', format: 'html' },
      ]);
      await expect.poll(() => setting.gateway.charged(own)).toBe(8 + 8 + 8);
    });

    test('may name the default model', async () => {
      const request = { parent: PARENT, contents: ['Hello'], targetLanguageCode: 'de', mimeType: 'text/plain' };
      for (const parent of [PARENT, 'projects/any']) {
        const [{ translations }] = await client.translateText({ ...request, model: `${parent}/models/general/nmt` });
        expect(translations).toMatchObject([{ translatedText: '[DE] Hello' }]);
      }
    });

    test('detects a language and lists them', async () => {
      const [found] = await client.detectLanguage({ parent: PARENT, content: 'Hello', mimeType: 'text/plain' });
      expect(found.languages).toEqual([{ languageCode: 'en', confidence: 1 }]);
      const [{ languages }] = await client.getSupportedLanguages({ parent: PARENT, displayLanguageCode: 'fr' });
      expect(languages).toHaveLength(40);
      expect(languages).toContainEqual({ languageCode: 'de', displayName: 'Allemand', supportSource: true, supportTarget: true });
      expect(languages).toContainEqual({
        languageCode: 'pt-BR',
        displayName: 'Portugais (Brésil)',
        supportSource: false,
        supportTarget: true,
      });
      const [plain] = await client.getSupportedLanguages({ parent: 'projects/any' });
      expect(plain.languages!.find((one) => one.languageCode === 'en')).toMatchObject({ displayName: '', supportTarget: true });
    });

    test('a glossary of this service, by its id or by a path', async () => {
      const made = await ask(setting, {
        method: 'POST',
        path: '/v1/glossaries',
        key: team.key,
        body: { name: 'ours', source_lang: 'EN', target_lang: 'DE', entries: { Hello: 'Servus' } },
      });
      const { glossary_id: id } = made.json() as { glossary_id: string };
      const request = { parent: PARENT, contents: ['Hello'], sourceLanguageCode: 'en', targetLanguageCode: 'de', mimeType: 'text/plain' };
      for (const glossary of [id, `${PARENT}/glossaries/${id.toLowerCase()}`]) {
        const [found] = await client.translateText({ ...request, glossaryConfig: { glossary } });
        expect(found.glossaryTranslations).toHaveLength(1);
        expect(found.glossaryTranslations).toMatchObject([{ translatedText: found.translations![0]!.translatedText }]);
      }
      for (const one of sent()) expect(one).toMatchObject({ glossary: { id, entries: { Hello: 'Servus' } } });
      const other = `${id.slice(0, -1)}${id.endsWith('0') ? '1' : '0'}`;
      const error = await failing(client.translateText({ ...request, glossaryConfig: { glossary: other } }));
      expect(error).toMatchObject({ code: CODES.NOT_FOUND, reason: 'NOT_FOUND' });
    });

    test('failures are errors of the client, with status and reason', async () => {
      const request = { parent: PARENT, contents: ['Hello'], targetLanguageCode: 'de' };
      const of = (key: string, more: object = {}) => failing(client.translateText({ ...request, ...more }, as(key)));
      expect(await of(`la_live_${'x'.repeat(40)}`)).toMatchObject({ code: CODES.INVALID_ARGUMENT, reason: 'API_KEY_INVALID' });
      const poor = await setting.gateway.team(CREDIT_PLAN, 0);
      expect(await of(poor.key)).toMatchObject({ code: CODES.PERMISSION_DENIED, reason: 'DAILY_LIMIT_EXCEEDED', domain: 'usageLimits' });
      expect(await of(team.key, { model: 'projects/any/models/TRL123' })).toMatchObject({
        code: CODES.INVALID_ARGUMENT,
        message: expect.stringContaining('model: ') as string,
      });
      setting.engine.always((_received, response) => void response.writeHead(500).end(CANARY));
      const failed = (await of(team.key)) as Error;
      expect(failed).toMatchObject({ code: CODES.UNAVAILABLE, reason: 'BACKEND_ERROR' });
      expect(JSON.stringify(failed)).not.toContain(CANARY);
    });
  });

  test.each<[string, object]>([
    ['transliterationConfig', { transliterationConfig: { enableTransliteration: true } }],
    ['model', { model: 'nmt' }],
    ['labels', { labels: { a: 'b', c: 'd' } }],
    ['labels', { labels: { a: 'b c' } }],
    ['labels', { labels: 'a' }],
    ['labels', { labels: { a: 'x'.repeat(101) } }],
    ['mimeType', { mimeType: 'text' }],
    ['contents', { contents: [1] }],
    ['contents', { contents: [] }],
    ['targetLanguageCode', { targetLanguageCode: 'zh-TW' }],
    ['targetLanguageCode', { targetLanguageCode: '' }],
    ['sourceLanguageCode', { sourceLanguageCode: 'xx' }],
    ['sourceLanguageCode', { glossaryConfig: { glossary: '01JD4X9Q2T8K6Z3W7V5N1M0RBC' } }],
    ['glossaryConfig', { glossaryConfig: 'mine' }],
    ['glossaryConfig.glossary', { glossaryConfig: { glossary: 'mine' } }],
    ['glossaryConfig', { glossaryConfig: { glossary: '01JD4X9Q2T8K6Z3W7V5N1M0RBC', ignoreCase: true } }],
    ['target_language_code', { target_language_code: 'de' }],
    ['q', { q: 'a' }],
  ])('%s is named in the refusal of %j', async (name, body) => {
    expect(await refusalOf(body)).toContain(name);
    expect(setting.engine.requests).toEqual([]);
  });

  test('too many texts, a body that is no JSON, other paths and methods, in Google’s form', async () => {
    const many = await post(':translateText', { contents: Array.from({ length: 1025 }, () => 'a'), targetLanguageCode: 'de' });
    expect([many.status, many.json()]).toMatchObject([400, { error: { message: expect.stringContaining('at most 1024') as string } }]);
    expect((await post(':translateText', 'nonsense')).json()).toMatchObject({ error: { code: 400, status: 'INVALID_ARGUMENT' } });
    const elsewhere = ['/locations/l/glossaries', ':translateDocument', '/locations/l/models', '/a/b/c:translateText'];
    for (const path of elsewhere) {
      const response = await post(path, {});
      expect([path, response.status, response.json()]).toMatchObject([path, 404, { error: { code: 404, status: 'NOT_FOUND' } }]);
    }
    const long = 'x'.repeat(1001);
    const detection = await post(':detectLanguage', { content: long, mimeType: 'text' });
    expect(detection.json()).toMatchObject({ error: { message: expect.stringContaining('mimeType') as string } });
    expect(await refusalOf({ contents: [long], mimeType: 'text' })).toContain('Text too long');
    const wrong = await ask(setting, { path: '/v3/projects/p:translateText' });
    expect([wrong.status, wrong.json()]).toMatchObject([405, { error: { status: 'UNIMPLEMENTED' } }]);
    const both = await withinASecond(async () => {
      const slow = await setting.gateway.team({ ...QUOTA_PLAN, requests_per_second: 1 });
      return Promise.all([1, 2].map(() => post(':detectLanguage', { content: 'Hello' }, slow.key)));
    });
    const refused = both.find(({ status }) => status === 429)!;
    expect([refused.json(), refused.header('retry-after')]).toMatchObject([{ error: { status: 'RESOURCE_EXHAUSTED' } }, '1']);
  });
});
