// `lingate/plugins/libretranslate` as LibreTranslate's clients see it, on both listeners and stores: shapes, keys, failures, costs.
import { beforeEach, describe, expect, test } from 'vitest';
import { answered as given } from '../../src/index.ts';
import { answer, CANARY } from '../../src/testing.ts';
import { ask, expectProblem, onOneGateway, oneTeam } from '../support/every-gateway.ts';
import type { Ask } from '../support/every-gateway.ts';
import { CREDIT_PLAN, QUOTA_PLAN } from '../support/gateway.ts';
import type { HttpResponse } from '../support/raw-http.ts';
import { withinASecond } from '../support/within-a-second.ts';

const FORM = { 'content-type': 'application/x-www-form-urlencoded' };
const OTHER_ORIGIN = 'access-control-allow-origin';

/** Checks a failure in LibreTranslate's form, with one member and nothing else; returns its text. */
function expectError(response: HttpResponse, status: number): string {
  expect([response.status, response.header('content-type'), response.body]).toEqual([status, 'application/json', expect.any(String)]);
  const { error, ...rest } = JSON.parse(response.body) as Record<string, unknown>;
  expect([typeof error, rest]).toEqual(['string', {}]);
  expect(response.body).not.toContain(CANARY);
  expect([response.header('cache-control'), response.header('x-request-id')]).toEqual(['no-store', expect.any(String)]);
  return String(error);
}

function answered(response: HttpResponse): unknown {
  expect([response.status, response.header('content-type'), response.body]).toEqual([200, 'application/json', expect.any(String)]);
  return JSON.parse(response.body);
}

onOneGateway({ config: { plugins: [{ module: 'lingate/plugins/libretranslate' }] } }, (setting) => {
  const team = oneTeam(setting);
  beforeEach(() => setting.engine.forget());

  const translate = (body: unknown = {}, more: Partial<Ask> = {}): Promise<HttpResponse> => {
    const whole = typeof body === 'string' ? body : { q: 'Hello', source: 'en', target: 'de', ...(body as object) };
    return ask(setting, { method: 'POST', path: '/translate', key: team.key, body: whole, ...more });
  };
  const deepLX = (body: object, key = team.key) => ask(setting, { method: 'POST', path: '/translate', key, body });
  const form = (fields: Readonly<Record<string, string>>, more: Partial<Ask> = {}) =>
    translate(new URLSearchParams({ q: 'Hello', source: 'en', target: 'de', ...fields }).toString(), { headers: FORM, ...more });
  const sent = (): unknown[] => setting.engine.requests.map(({ body }) => JSON.parse(body) as unknown);

  describe('POST /translate', () => {
    test('a text is answered with a text, a list with a list in its order; both are charged by the character', async () => {
      const own = await setting.gateway.team();
      expect(answered(await translate({}, { key: own.key }))).toEqual({ translatedText: '[DE] Hello' });
      expect(answered(await translate({ q: ['a', '', 'grüße 😀', ''] }, { key: own.key }))).toEqual({
        translatedText: ['[DE] a', '', '[DE] grüße 😀', ''],
      });
      expect(sent()).toEqual([
        { text: ['Hello'], source_lang: 'EN', target_lang: 'DE' },
        { text: ['a', 'grüße 😀'], source_lang: 'EN', target_lang: 'DE' },
      ]);
      await expect.poll(() => setting.gateway.charged(own)).toBe(5 + 1 + 7);
    });

    test('forms, multipart or not, are read like JSON; line breaks that a browser expands are not charged extra', async () => {
      const own = await setting.gateway.team();
      expect(answered(await form({ q: 'a\r\nb &=+%', api_key: own.key }, { key: undefined }))).toEqual({
        translatedText: '[DE] a\nb &=+%',
      });
      const parts = new FormData();
      for (const [name, value] of Object.entries({ q: 'ü\nb', source: 'auto', target: 'pt', format: 'html', api_key: own.key }))
        parts.append(name, value);
      const url = `http://127.0.0.1:${setting.gateway.port}/translate`;
      const response = await fetch(url, { method: 'POST', body: parts });
      expect(await response.json()).toEqual({ translatedText: '[PT-PT] ü\nb', detectedLanguage: { confidence: 100, language: 'en' } });
      expect(sent().at(-1)).toEqual({ text: ['ü\nb'], target_lang: 'PT-PT', format: 'html' });
      expect(answered(await translate('q=a&q=b&source=en&target=de', { headers: FORM }))).toEqual({ translatedText: ['[DE] a', '[DE] b'] });
      await expect.poll(() => setting.gateway.charged(own)).toBe(8 + 3);
    });

    test('parameters may be in the query of a request without a JSON body; the same one must not be in both places', async () => {
      const own = await setting.gateway.team();
      const post = (query: string, body: string, headers: Readonly<Record<string, string>>) =>
        ask(setting, { method: 'POST', path: `/translate?${query}`, key: own.key, headers, body });
      const bodiless = { 'content-length': '0', 'content-type': 'text/plain' };
      expect(answered(await post('q=a%0D%0Ab&source=en&target=de', '', bodiless))).toEqual({ translatedText: '[DE] a\nb' });
      expect(answered(await post('q=a&q=b&source=en', 'target=de', FORM))).toEqual({ translatedText: ['[DE] a', '[DE] b'] });
      expect(expectError(await post('q=a&source=en&target=de', 'q=b', FORM), 400)).toBe(
        'q: must not be both in the query and in the body.',
      );
      // Like LibreTranslate, it reads either JSON or the query.
      const json = JSON.stringify({ q: 'c', source: 'en', target: 'fr' });
      expect(answered(await post('q=a&source=en&target=de', json, {}))).toEqual({ translatedText: '[FR] c' });
      expect(answered(await ask(setting, { method: 'POST', path: '/detect?q=Hello', key: own.key, headers: bodiless, body: '' }))).toEqual([
        { confidence: 100, language: 'en' },
      ]);
      // A key in the query is not accepted here.
      const path = `/translate?q=a&source=en&target=de&api_key=${own.key}`;
      const stranger = await ask(setting, { method: 'POST', path, headers: bodiless, body: '' });
      expect(expectError(stranger, 403)).toContain('No API key was sent');
      await expect.poll(() => setting.gateway.charged(own)).toBe(3 + 2 + 1);
    });

    test('only empty texts are answered with empty texts, count against the rate, and reach neither the engine nor the account', async () => {
      const own = await setting.gateway.team({ ...QUOTA_PLAN, characters: 0 });
      expect(answered(await translate({ q: '' }, { key: own.key }))).toEqual({ translatedText: '' });
      expect(answered(await translate({ q: ['', ''], source: 'auto' }, { key: own.key }))).toEqual({ translatedText: ['', ''] });
      expect(answered(await form({ q: '', api_key: own.key }, { key: undefined }))).toEqual({ translatedText: '' });
      const empty = { text: '', source_lang: 'EN', target_lang: 'DE' };
      expect(answered(await deepLX(empty, own.key))).toMatchObject({ code: 200, data: '', source_lang: 'EN' });
      const answers = await withinASecond(async () => {
        const slow = await setting.gateway.team({ ...QUOTA_PLAN, characters: 0, requests_per_second: 1 });
        return Promise.all([1, 2].map(() => translate({ q: '' }, { key: slow.key })));
      });
      expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 429]);
      expect(sent()).toEqual([]);
      expect(await setting.gateway.charged(own)).toBe(0);
    });

    test('auto makes the engine detect the language, which is returned in the shape of q', async () => {
      expect(answered(await translate({ source: 'auto' }))).toMatchObject({ detectedLanguage: { confidence: 100, language: 'en' } });
      expect(answered(await translate({ source: 'auto', q: ['a', '', 'b'] }))).toEqual({
        translatedText: ['[DE] a', '', '[DE] b'],
        detectedLanguage: Array.from({ length: 3 }, () => ({ confidence: 100, language: 'en' })),
      });
      setting.engine.always(answer('{"translations":[{"text":"x"}]}'));
      expect(answered(await translate({ source: 'auto' }))).toEqual({ translatedText: 'x' });
    });

    test('alternatives are an empty list if requested, and unknown members are ignored', async () => {
      expect(answered(await translate({ alternatives: 3, secret: 'x' }))).toEqual({ translatedText: '[DE] Hello', alternatives: [] });
      expect(answered(await translate({ alternatives: '2', q: ['a', 'b'] }))).toMatchObject({ alternatives: [[], []] });
      expect(answered(await form({ alternatives: '0', format: '' }))).toEqual({ translatedText: '[DE] Hello' });
      expect(answered(await translate({ alternatives: null, format: null }))).toEqual({ translatedText: '[DE] Hello' });
    });

    test.each([
      ['en', 'EN-GB', 'EN'],
      ['en-US', 'EN-US', 'EN'],
      ['pt-br', 'PT-BR', 'PT'],
      ['pb', 'PT-BR', 'PT'],
      ['zh-Hans', 'ZH', 'ZH'],
      ['no', 'NB', 'NB'],
      ['iw', 'HE', 'HE'],
      ['DE', 'DE', 'DE'],
    ])('%s is the target %s and the source %s', async (code, target, source) => {
      answered(await translate({ target: code, source: code }));
      expect(sent()).toMatchObject([{ target_lang: target, source_lang: source }]);
    });

    test('every failure has one member and costs nothing', async () => {
      const own = await setting.gateway.team();
      const refused: readonly [unknown, string][] = [
        [{ q: undefined }, 'Invalid request: missing q parameter'],
        [{ q: [] }, 'Invalid request: missing q parameter'],
        [{ q: null }, 'Invalid request: missing q parameter'],
        [{ source: '' }, 'Invalid request: missing source parameter'],
        [{ target: null }, 'Invalid request: missing target parameter'],
        [{ alternatives: 'abc' }, 'Invalid request: alternatives parameter is not a number'],
        [{ q: 7 }, 'must be a string'],
        [{ q: ['a', 7] }, 'must be a string'],
        [{ q: '\ud800' }, 'surrogate'],
        [{ q: Array.from({ length: 1001 }, () => 'a') }, 'Invalid request: request (1001) exceeds text limit (1000)'],
        [{ q: 'x'.repeat(1001) }, 'Invalid request: request (1001) exceeds text limit (1000)'],
        [{ q: 'x'.repeat(1001), target: 'zz' }, 'zz is not supported'],
        [{ source: 'zz' }, 'zz is not supported'],
        [{ source: 'zz-Xx' }, 'zz-Xx is not supported'],
        // Nothing but what looks like a code is repeated.
        [{ source: 'ZZ zz' }, 'source is not supported'],
        [{ source: ['en'] }, 'source is not supported'],
        [{ target: 'zz' }, 'zz is not supported'],
        // Traditional Chinese is not answered in simplified.
        [{ target: 'zt' }, 'zt is not supported'],
        [{ target: 'zh-Hant' }, 'zh-Hant is not supported'],
        [{ target: 'ZH-HANT' }, 'is not supported'],
        [{ target: 'PB' }, 'target is not supported'],
        [{ target: { a: 1 } }, 'target is not supported'],
        [{ format: 'xml' }, 'format is not supported'],
        ['["not","a","dict"]', 'object'],
        ['{"q":', 'well-formed'],
      ];
      for (const [body, words] of refused) expect(expectError(await translate(body, { key: own.key }), 400)).toContain(words);
      expect(expectError(await translate('q=%ff', { headers: FORM, key: own.key }), 400)).toContain('UTF-8');
      expect(expectError(await translate('x', { headers: { 'content-type': 'text/plain' }, key: own.key }), 400)).toContain('Content-Type');
      const [poor, broke] = [await setting.gateway.team({ ...QUOTA_PLAN, characters: 4 }), await setting.gateway.team(CREDIT_PLAN, 0)];
      expect(expectError(await translate({}, { key: poor.key }), 403)).toContain('do not cover the request');
      expect(expectError(await translate({}, { key: broke.key }), 403)).toContain('balance');
      expect(sent()).toEqual([]);
      setting.engine.always('not_json');
      const engine = await translate({}, { key: own.key });
      expectError(engine, 500);
      expect([engine.header('retry-after'), sent().length]).toEqual(['5', 2]);
      await expect.poll(() => setting.gateway.charged(own)).toBe(0);
    });
  });

  describe('keys', () => {
    test('one in the body counts if no field has one', async () => {
      answered(await translate({ api_key: team.key }, { key: undefined }));
      answered(await translate({ api_key: '' }));
      answered(await translate({ api_key: 'wrong' }));
      answered(await translate({ api_key: 'wrong' }, { key: undefined, headers: { 'deepl-auth-key': team.key } }));
      expect(expectError(await translate({ api_key: team.key }, { key: 'la_live_wrong' }), 403)).toContain('malformed');
      expect(expectError(await translate({ api_key: team.key }, { key: undefined, headers: { authorization: 'Basic x' } }), 403)).toContain(
        'malformed',
      );
    });

    test('bad, missing and revoked ones are 403; one in a query is ignored', async () => {
      const bare = { key: undefined };
      expect(expectError(await translate({}, bare), 403)).toContain('api_key');
      expect(expectError(await translate({ api_key: '' }, bare), 403)).toContain('api_key');
      expect(expectError(await translate({ api_key: 'x' }, bare), 403)).toContain('malformed');
      expect(expectError(await translate({ api_key: ['x'] }, bare), 403)).toContain('malformed');
      expect(expectError(await translate({ api_key: `la_live_${'x'.repeat(40)}` }, bare), 403)).toContain('not known');
      expect(expectError(await translate({}, { ...bare, path: `/translate?api_key=${team.key}` }), 403)).toContain('No API key');
      const gone = await setting.gateway.team();
      given(await setting.gateway.store.teams.revokeKey(gone.keyId));
      expect(expectError(await translate({ api_key: gone.key, target: 'zz' }, bare), 403)).toContain('revoked');
    });

    test('a malformed body is reported as such, even if the key may have been in it', async () => {
      // As some versions of Subtitle Edit write it: a comma is missing.
      const broken = `{"q": "a", "source": "en", "target": "de" "api_key": "${team.key}"}`;
      const refused = await translate(broken, { key: undefined });
      expect(expectError(refused, 400)).toContain('well-formed JSON');
      expect(refused.body).not.toContain(team.key);
      expectError(await translate('x'.repeat(1_100_000), { key: undefined }), 400);
    });
  });

  describe('POST /detect', () => {
    const detect = (q: unknown, more: Partial<Ask> = {}): Promise<HttpResponse> =>
      ask(setting, { method: 'POST', path: '/detect', body: { q, api_key: team.key }, ...more });

    test('returns the language of a text, by its beginning', async () => {
      expect(answered(await detect('Hello'))).toEqual([{ confidence: 100, language: 'en' }]);
      const { key } = await setting.gateway.team({ ...QUOTA_PLAN, max_characters_per_request: 5000 });
      expect(answered(await detect('a😀'.repeat(1000), { key }))).toHaveLength(1);
      expect((sent()[1] as { text: string[] }).text[0]).toHaveLength(1000);
      setting.engine.always(answer('{"translations":[{"text":"x"}]}'));
      expect(answered(await detect('Hello'))).toEqual([]);
    });

    test('costs nothing but counts against the rate', async () => {
      const [own, limited] = await withinASecond(async () => {
        const slow = await setting.gateway.team({ ...QUOTA_PLAN, requests_per_second: 1, characters: 0 });
        answered(await detect('Hello', { key: slow.key }));
        return [slow, await detect('Hello', { key: slow.key })] as const;
      });
      expectError(limited, 429);
      expect(await setting.gateway.charged(own)).toBe(0);
    });

    test('fails as translations do', async () => {
      expect(expectError(await detect(''), 400)).toBe('Invalid request: missing q parameter');
      expect(expectError(await detect('x'.repeat(1001)), 400)).toContain('(1001) exceeds text limit (1000)');
      expectError(await detect('Hello', { body: { q: 'Hello' } }), 403);
      setting.engine.always('reset');
      expectError(await detect('Hello'), 500);
    });
  });

  test('GET /languages and /frontend/settings need no key, and each target is a language of the list', async () => {
    const list = answered(await ask(setting, { path: '/languages' })) as { code: string; name: string; targets: string[] }[];
    const codes = list.map(({ code }) => code);
    expect([codes.length, new Set(codes).size]).toEqual([40, 40]);
    expect(list.find(({ code }) => code === 'pt-BR')).toMatchObject({ name: expect.stringContaining('Brazil') as string });
    for (const { targets } of list) expect(targets.filter((code) => !codes.includes(code))).toEqual([]);
    expect(list[0]!.targets).toHaveLength(40);
    expect(answered(await ask(setting, { path: '/frontend/settings' }))).toMatchObject({
      apiKeys: true,
      keyRequired: true,
      filesTranslation: false,
      language: { source: { code: 'auto' }, target: { code: 'en', name: 'English' } },
    });
  });

  describe('DeepLX’s request shape', () => {
    test('is recognized by text without q, and answered in its own shape', async () => {
      const own = await setting.gateway.team();
      const body = { text: 'Hello', source_lang: 'auto', target_lang: 'EN' };
      const reply = answered(await deepLX(body, own.key)) as { id: number };
      expect(reply).toEqual({
        code: 200,
        id: expect.any(Number) as number,
        data: '[EN-GB] Hello',
        alternatives: [],
        source_lang: 'EN',
        target_lang: 'EN-GB',
        method: 'Free',
      });
      expect(Number.isSafeInteger(reply.id)).toBe(true);
      expect(answered(await translate({ text: 'other' }))).toEqual({ translatedText: '[DE] Hello' });
      await expect.poll(() => setting.gateway.charged(own)).toBe(5);
    });

    test.each([
      [{ text: null, target_lang: 'DE' }, 'missing text'],
      [{ text: ['a'], target_lang: 'DE' }, 'must be a string'],
      [{ text: 'a' }, 'target_lang is not supported'],
      [{ text: 'a', target_lang: 'DE', source_lang: 'zz' }, 'zz is not supported'],
      [{ text: 'a', target_lang: 'DE', tag_handling: 'text' }, 'tag_handling'],
    ])('%j fails like everything else on this path', async (body, words) => {
      expect(expectError(await deepLX(body), 400)).toContain(words);
    });

    test('tags are passed to the engine', async () => {
      const body = { text: '<p>a</p>', source_lang: 'EN', target_lang: 'DE', tag_handling: 'xml' };
      expect(answered(await deepLX(body))).toMatchObject({ data: '[DE] <p>a</p>' });
      expect(sent()).toMatchObject([{ format: 'xml' }]);
    });
  });

  test('browsers may call from any origin: every answer allows it, and preflights are answered', async () => {
    for (const path of ['/translate', '/detect', '/languages', '/frontend/settings']) {
      const preflight = await ask(setting, { method: 'OPTIONS', path });
      expect([preflight.status, preflight.body, preflight.header(OTHER_ORIGIN)]).toEqual([204, '', '*']);
      expect(preflight.header('access-control-allow-headers')).toBe('authorization, vendor-auth-key, deepl-auth-key, content-type');
    }
    for (const response of [await translate(), await translate({ target: 'zz' }), await translate({}, { key: undefined })]) {
      expect(response.header(OTHER_ORIGIN)).toBe('*');
    }
    expect((await ask(setting, { path: '/v1/usage', key: team.key })).header(OTHER_ORIGIN)).toBeUndefined();
  });

  test('slashes do not matter; the rest of the API, and other methods, are refused in its form', async () => {
    expect((await ask(setting, { path: '//languages/' })).status).toBe(200);
    for (const [method, path] of [
      ['POST', '/translate_file'],
      ['GET', '/download_file/a'],
      ['POST', '/suggest/'],
      ['GET', '/frontend'],
      ['OPTIONS', '/suggest'],
    ] as const) {
      const missing = await ask(setting, { method, path });
      expect(expectError(missing, 404)).toContain('Not found');
      expect(missing.header('access-control-allow-origin')).toBe('*');
    }
    for (const path of ['/translate', '/Translate']) {
      const wrong = await ask(setting, { path });
      if (path === '/translate') expectError(wrong, 405);
      else expectProblem(wrong, 'not_found');
      expect(wrong.header('allow')).toBe(path === '/translate' ? 'POST, OPTIONS' : undefined);
    }
    expectProblem(await ask(setting, { path: '/other' }), 'not_found');
  });

  test('/spec is the description of this API under LibreTranslate’s name, without a key', async () => {
    const spec = await ask(setting, { path: '/spec' });
    expect([spec.status, spec.header('access-control-allow-origin')]).toEqual([200, '*']);
    expect(spec.json()).toMatchObject({
      openapi: '3.1.0',
      info: { title: 'LibreTranslate' },
      servers: [{ url: `http://127.0.0.1:${setting.gateway.port}` }],
      paths: { '/translate': {}, '/detect': {}, '/spec': {} },
    });
    expect((await ask(setting, { method: 'POST', path: '/spec', body: {} })).status).toBe(405);
  });

  test('/v1 stays strict: no key from its body, no other parameters, no forms', async () => {
    const v1 = (body: unknown, more: Partial<Ask> = {}) => ask(setting, { method: 'POST', path: '/v1/translate', body, ...more });
    expectProblem(await v1({ text: ['a'], target_lang: 'DE', api_key: team.key }), 'unauthorized');
    expectProblem(await v1({ text: ['a'], target_lang: 'DE', api_key: team.key }, { key: team.key }), 'validation_error');
    expectProblem(await v1('text=a&target_lang=DE', { key: team.key, headers: FORM }), 'validation_error');
  });
});
