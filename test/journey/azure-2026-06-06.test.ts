// Azure's current client for Node, unchanged, with `lingate/plugins/azure-v3`, on both listeners and stores; and older requests beside it.
import { Agent } from 'node:http';
import { createRestError } from '@azure-rest/core-client';
import TextTranslationClient, { isUnexpected } from '@azure-rest/ai-translation-text';
import type { TranslateBody } from '@azure-rest/ai-translation-text';
import { beforeEach, expect, test } from 'vitest';
import { CANARY } from '../../src/testing.ts';
import { ask, onOneGateway, oneTeam } from '../support/every-gateway.ts';
import { CREDIT_PLAN, QUOTA_PLAN } from '../support/gateway.ts';

const BELOW = '/translator/text/v3.0';
const DE = { language: 'de' };

onOneGateway({ config: { plugins: [{ module: 'lingate/plugins/azure-v3' }] } }, (setting) => {
  const team = oneTeam(setting);
  beforeEach(() => setting.engine.forget());

  const client = (key = team.key, host = '127.0.0.1') =>
    TextTranslationClient(
      `http://${host}:${setting.gateway.port}`,
      { key },
      { allowInsecureConnection: true, retryOptions: { maxRetries: 0 } },
    );
  const translate = (body: TranslateBody, key?: string) => client(key).path('/translate').post({ body });
  const sent = (): unknown[] => setting.engine.requests.map(({ body }) => JSON.parse(body) as unknown);

  test('translates each text into its own languages, each charged once', async () => {
    const own = await setting.gateway.team({ ...QUOTA_PLAN, characters: 17 });
    const inputs = [
      { text: 'Hello', language: 'en', targets: [DE, { language: 'fr', tone: 'formal' }] },
      { text: 'you 😀', targets: [DE] },
      { text: '', targets: [DE] },
    ];
    const response = await translate({ inputs }, own.key);
    expect([isUnexpected(response), response.status, response.headers['x-metered-usage'], response.body]).toEqual([
      false,
      '200',
      '15',
      {
        value: [
          {
            translations: [
              { language: 'de', text: '[DE] Hello', sourceCharacters: 5 },
              { language: 'fr', text: '[FR] Hello', sourceCharacters: 5 },
            ],
          },
          { detectedLanguage: { language: 'en', score: 1 }, translations: [{ language: 'de', text: '[DE] you 😀', sourceCharacters: 5 }] },
          { translations: [{ language: 'de', text: '', sourceCharacters: 0 }] },
        ],
      },
    ]);
    expect(sent()).toEqual(
      expect.arrayContaining([
        { text: ['Hello'], source_lang: 'EN', target_lang: 'DE' },
        { text: ['Hello'], source_lang: 'EN', target_lang: 'FR', formality: 'prefer_more' },
        { text: ['you 😀'], target_lang: 'DE' },
      ]),
    );
    expect(sent()).toHaveLength(3);
    await expect.poll(() => setting.gateway.charged(own)).toBe(15);
    expect(await translate({ inputs }, own.key)).toMatchObject({ status: '403', body: { error: { code: '403001' } } });
  });

  test('equal targets of several texts are one call; html and reference texts reach the engine', async () => {
    const target = { ...DE, referenceTextPairs: [{ source: 'cat', target: 'Katze' }] };
    const inputs = ['<p>a</p>', '<p>b</p>'].map((text) => ({ text, language: 'en', textType: 'Html', targets: [target] }));
    expect(await translate({ inputs })).toMatchObject({ status: '200' });
    expect(sent()).toEqual([
      { text: ['<p>a</p>', '<p>b</p>'], source_lang: 'EN', target_lang: 'DE', format: 'html', context: 'cat = Katze' },
    ]);
  });

  test('errors have codes that are strings, and become errors of the client', async () => {
    const wrong = await translate({ inputs: [{ text: 'a', targets: [{ ...DE, gender: 'female' }] }] });
    if (!isUnexpected(wrong)) throw new Error('was accepted');
    expect(wrong.body).toEqual({
      error: {
        code: '400000',
        message: 'inputs[0].targets[0].gender: this service does not choose a gender; leave it out, or send neutral.',
      },
    });
    expect(createRestError(wrong)).toMatchObject({ name: 'RestError', statusCode: 400, code: '400000' });
    const body: TranslateBody = { inputs: [{ text: 'Hello', targets: [DE] }] };
    expect(await translate(body, `la_live_${'x'.repeat(40)}`)).toMatchObject({ status: '401', body: { error: { code: '401000' } } });
    const poor = await setting.gateway.team(CREDIT_PLAN, 0);
    expect(await translate(body, poor.key)).toMatchObject({ status: '403', body: { error: { code: '403001' } } });
    setting.engine.always((_received, response) => void response.writeHead(500).end(CANARY));
    const failed = await translate(body);
    expect([failed.status, failed.headers['retry-after'], JSON.stringify(failed.body).includes(CANARY)]).toEqual(['503', '5', false]);
    expect(failed.body).toMatchObject({ error: { code: '503000' } });
  });

  test('languages have names in the language of the reader, and are asked for again only when they change', async () => {
    const get = (headers: Record<string, string>, scope?: string) =>
      client('nobody')
        .path('/languages')
        .get({ headers, ...(scope === undefined ? {} : { queryParameters: { scope } }) });
    const first = await get({ 'Accept-Language': 'fr-CA, en;q=0.8' });
    if (isUnexpected(first)) throw new Error('was refused');
    expect(first.body).toMatchObject({ transliteration: {}, models: [] });
    expect(first.body.translation!['de']).toEqual({ name: 'Allemand', nativeName: 'Deutsch', dir: 'ltr', models: [] });
    expect(first.headers).toMatchObject({ vary: 'Accept-Language', 'cache-control': 'no-cache' });
    expect((await get({ 'Accept-Language': 'fr', 'If-None-Match': first.headers.etag })).status).toBe('304');
    const english = await get({ 'Accept-Language': 'xx, *;q=0.5', 'If-None-Match': first.headers.etag }, 'translation');
    expect(english).toMatchObject({ status: '200', body: { translation: { de: { name: 'German' } } } });
    expect(Object.keys(english.body)).toEqual(['translation']);
    expect(await get({}, 'dictionary')).toMatchObject({ status: '400', body: { error: { code: '400001' } } });
  });

  test('there is no transliteration, in no version', async () => {
    const queryParameters = { language: 'ja', fromScript: 'Jpan', toScript: 'Latn' };
    const response = await client()
      .path('/transliterate')
      .post({ body: { inputs: [{ text: 'a' }] }, queryParameters });
    expect(response).toMatchObject({ status: '404', body: { error: { code: '404000' } } });
  });

  test('with an endpoint that it takes for Azure’s own, the client puts a path in front, which is served', async () => {
    const agent = new Agent({ lookup: (_host, _options, found) => found(null, [{ address: '127.0.0.1', family: 4 }]) });
    const custom = client(team.key, 'mine.cognitiveservices.example');
    const asked: string[] = [];
    custom.pipeline.addPolicy({
      name: 'to this machine',
      sendRequest(request, next) {
        asked.push(new URL(request.url).pathname);
        return next({ ...request, agent });
      },
    });
    const response = await custom.path('/translate').post({ body: { inputs: [{ text: 'Hello', targets: [DE] }] } });
    agent.destroy();
    expect([asked, response.status]).toEqual([[`${BELOW}/translate`], '200']);
  });

  test('the versions are told apart by the query alone; what only the other one has is not read', async () => {
    const headers = { 'ocp-apim-subscription-key': team.key };
    const post = (path: string, body: unknown) => ask(setting, { method: 'POST', path, headers, body });
    const older = await post('/translate?api-version=3.0&to=de', { inputs: [{ text: 'a', targets: [DE] }] });
    expect([older.status, older.json()]).toMatchObject([400, { error: { code: 400_000 } }]);
    const newer = await post('/translate?api-version=2026-06-06&to=de', [{ Text: 'a' }]);
    expect([newer.status, newer.json()]).toMatchObject([400, { error: { code: '400000' } }]);
    const detect = await post('/detect?api-version=2026-06-06', [{ Text: 'a' }]);
    expect([detect.status, detect.json()]).toMatchObject([404, { error: { code: '404000' } }]);
    for (const query of ['api-version=2025-10-01-preview', '', 'api-version=3.0&api-version=2026-06-06']) {
      expect((await post(`/translate?${query}`, [])).json()).toMatchObject({ error: { code: 400_021 } });
    }
    expect(setting.engine.requests).toEqual([]);
  });
});
