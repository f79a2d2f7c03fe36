// Azure's own client for Node, unchanged, with `lingate/plugins/azure-v3`, on both listeners and stores; and what it cannot send.
import TextTranslationClient, { buildMultiCollection, isUnexpected } from 'azure-translation-text-1';
import type { TranslateQueryParamProperties } from 'azure-translation-text-1';
import { beforeEach, describe, expect, test } from 'vitest';
import { answered } from '../../src/index.ts';
import { answer, CANARY } from '../../src/testing.ts';
import { ask, expectProblem, onOneGateway, oneTeam } from '../support/every-gateway.ts';
import type { Ask } from '../support/every-gateway.ts';
import { CREDIT_PLAN, QUOTA_PLAN } from '../support/gateway.ts';
import type { HttpResponse } from '../support/raw-http.ts';
import { withinASecond } from '../support/within-a-second.ts';

const KEY_FIELD = 'ocp-apim-subscription-key';
const BELOW = '/translator/text/v3.0';
const LANGUAGES_LISTED = 40;
const V = 'api-version=3.0';

/** What the text becomes in each of our languages, under the code that was asked for. */
const becoming = (text: string, ...codes: readonly (readonly [ours: string, to: string])[]) => ({
  translations: codes.map(([ours, to]) => ({ text: `[${ours}] ${text}`, to })),
});

/** Checks a failure in Azure's form, under the status that its number begins with; returns its message. */
function expectError(response: HttpResponse, code: number): string {
  const { error, ...rest } = JSON.parse(response.body) as { error: { code: number; message: string } };
  expect([error, rest]).toEqual([{ code, message: expect.any(String) as string }, {}]);
  expect([response.status, response.header('content-type')]).toEqual([Math.floor(code / 1000), 'application/json']);
  expect(response.body).not.toContain(CANARY);
  return error.message;
}

function found(response: HttpResponse): unknown {
  expect([response.status, response.header('content-type'), response.body]).toEqual([200, 'application/json', expect.any(String)]);
  expect(response.header('x-requestid')).toBe(response.header('x-request-id'));
  return JSON.parse(response.body);
}

onOneGateway({ config: { plugins: [{ module: 'lingate/plugins/azure-v3' }], engine: { timeout_ms: 20_000 } } }, (setting) => {
  const team = oneTeam(setting);
  beforeEach(() => setting.engine.forget());

  const client = (key = team.key, below = '', maxRetries = 0) =>
    TextTranslationClient(
      `http://127.0.0.1:${setting.gateway.port}${below}`,
      { key, region: 'westeurope' },
      { allowInsecureConnection: true, retryOptions: { maxRetries } },
    );
  const translate = (
    text: readonly string[],
    queryParameters: TranslateQueryParamProperties & Record<string, unknown>,
    key = team.key,
    below = '',
  ) =>
    client(key, below)
      .path('/translate')
      .post({
        body: text.map((one) => ({ text: one })),
        queryParameters,
        headers: { 'X-ClientTraceId': 'a-trace' },
        skipUrlEncoding: true,
      });
  const of = ({ key }: { readonly key: string }) => ({ headers: { [KEY_FIELD]: key } });
  /** A request that the client would not send; the key is in its usual field. */
  const send = (query: string, body: unknown, more: Partial<Ask> = {}): Promise<HttpResponse> =>
    ask(setting, { method: 'POST', path: `/translate?${query}`, ...of(team), body, ...more });
  /** The bodies that the engine received. */
  const sent = (): unknown[] => setting.engine.requests.map(({ body }) => JSON.parse(body) as unknown);

  describe('its client', () => {
    test.each(['', BELOW])('translates texts below "%s", and gets their cost', async (below) => {
      const response = await translate(['Hello', 'grüße 😀'], { to: 'de', from: 'en' }, team.key, below);
      expect(isUnexpected(response)).toBe(false);
      expect([response.status, response.body]).toEqual(['200', [becoming('Hello', ['DE', 'de']), becoming('grüße 😀', ['DE', 'de'])]]);
      expect([response.headers['x-metered-usage'], response.headers['x-requestid']]).toEqual(['12', response.headers['x-request-id']]);
      expect(sent()).toEqual([{ text: ['Hello', 'grüße 😀'], source_lang: 'EN', target_lang: 'DE' }]);
    });

    test('translates into several languages at once, each charged, with one reservation', async () => {
      const own = await setting.gateway.team({ ...QUOTA_PLAN, characters: 20 });
      const to = buildMultiCollection(['zh-Hans', 'en', 'EN-gb', 'pt'], 'to');
      const { status, body } = await translate(['Hello'], { to }, own.key);
      expect([status, body]).toEqual([
        '200',
        [
          {
            detectedLanguage: { language: 'en', score: 1 },
            ...becoming('Hello', ['ZH', 'zh-Hans'], ['EN-GB', 'en'], ['EN-GB', 'en-GB'], ['PT-BR', 'pt']),
          },
        ],
      ]);
      expect(setting.engine.requests).toHaveLength(4);
      await expect.poll(() => setting.gateway.charged(own)).toBe(20);
      expect(await translate(['a'], { to: 'de' }, own.key)).toMatchObject({ status: '403', body: { error: { code: 403_001 } } });
    });

    test('several languages in one parameter, as SDKs send them, and repeated ones are each charged once', async () => {
      const own = await setting.gateway.team({ ...QUOTA_PLAN, characters: 20 });
      const response = await translate(['Hello'], { to: 'cs,es', from: 'en' }, own.key);
      expect([response.status, response.headers['x-metered-usage'], response.body]).toEqual([
        '200',
        '10',
        [becoming('Hello', ['CS', 'cs'], ['ES', 'es'])],
      ]);
      const mixed = await send('api-version=3.0&from=en&to=de,no&to=zh-CN', [{ Text: 'ab' }], of(own));
      expect([mixed.header('x-metered-usage'), mixed.json()]).toEqual([
        '6',
        [becoming('ab', ['DE', 'de'], ['NB', 'nb'], ['ZH', 'zh-Hans'])],
      ]);
      await expect.poll(() => setting.gateway.charged(own)).toBe(16);
      expect(await translate(['Hello'], { to: 'cs,es', from: 'en' }, own.key)).toMatchObject({ status: '403' });
    });

    test('the cost of several languages is checked as a whole: against the plan’s length, and its quota', async () => {
      const own = await setting.gateway.team({ ...QUOTA_PLAN, max_characters_per_request: 12, characters: 11 });
      const into = (...codes: string[]) => translate(['Hello'], { to: buildMultiCollection(codes, 'to'), from: 'en' }, own.key);
      expect(await into('de', 'fr', 'it')).toMatchObject({
        status: '400',
        body: { error: { code: 400_050, message: expect.stringMatching(/15 characters.*12/) as string } },
      });
      expect(await into('de', 'fr')).toMatchObject({ status: '200', headers: { 'x-metered-usage': '10' } });
      expect(await into('de', 'fr')).toMatchObject({ status: '403', body: { error: { code: 403_001 } } });
      await expect.poll(() => setting.gateway.charged(own)).toBe(10);
    });

    test('one language that fails fails all of them: two attempts and no charge; invalid requests are tried once', async () => {
      const own = await setting.gateway.team();
      setting.engine.always((received, response) => {
        const { target_lang: target } = JSON.parse(received.body) as { target_lang: string };
        if (target === 'FR') response.writeHead(500).end(CANARY);
        else response.end(JSON.stringify({ translations: [{ text: 'x' }] }));
      });
      const response = await translate(['Hello'], { to: buildMultiCollection(['de', 'fr', 'it'], 'to') }, own.key);
      expect([response.status, response.headers['retry-after'], response.body]).toEqual([
        '503',
        '5',
        { error: { code: 503_000, message: expect.not.stringContaining(CANARY) as string } },
      ]);
      expect(setting.engine.requests).toHaveLength(4);
      await expect.poll(() => setting.gateway.charged(own)).toBe(0);
    });

    test('lists languages without a valid key, by scope', async () => {
      const all = await client('nobody').path('/languages').get();
      const { translation = {}, transliteration, dictionary } = (all as Extract<typeof all, { status: '200' }>).body;
      expect([all.status, transliteration, dictionary]).toEqual(['200', {}, {}]);
      expect(Object.keys(translation)).toHaveLength(LANGUAGES_LISTED);
      expect(translation['de']).toEqual({ name: 'German', nativeName: 'Deutsch', dir: 'ltr' });
      expect(translation['he']).toEqual({ name: 'Hebrew', nativeName: 'עברית', dir: 'rtl' });
      expect(Object.keys(translation)).toEqual(expect.arrayContaining(['en', 'en-GB', 'pt', 'pt-BR', 'pt-PT', 'nb', 'zh-Hans']));
      const one = await client('nobody', BELOW)
        .path('/languages')
        .get({ queryParameters: { scope: 'dictionary' } });
      expect([one.status, one.body]).toEqual(['200', { dictionary: {} }]);
      const wrong = await client()
        .path('/languages')
        .get({ queryParameters: { scope: 'models' } });
      expect([isUnexpected(wrong), wrong.body]).toMatchObject([true, { error: { code: 400_001 } }]);
    });

    test('gets a missing path in its own error format', async () => {
      const body = [{ text: 'Hello' }];
      const queryParameters = { from: 'en', to: 'de', language: 'ja', fromScript: 'Jpan', toScript: 'Latn' };
      for (const below of ['', BELOW]) {
        const own = client(team.key, below);
        const all = await Promise.all([
          own.path('/breaksentence').post({ body }),
          own.path('/transliterate').post({ body, queryParameters }),
          own.path('/dictionary/lookup').post({ body, queryParameters }),
          own.path('/dictionary/examples').post({ body: [{ text: 'fly', translation: 'volar' }], queryParameters }),
        ]);
        for (const response of all) expect(response).toMatchObject({ status: '404', body: { error: { code: 404_000 } } });
        const unknown = await client(`la_live_${'x'.repeat(40)}`, below)
          .path('/breaksentence')
          .post({ body });
        expect(unknown).toMatchObject({ status: '401', body: { error: { code: 401_000 } } });
      }
    });

    test('retries after exceeding the rate, and then gets its translation', async () => {
      const slow = await setting.gateway.team({ ...QUOTA_PLAN, requests_per_second: 1 });
      const post = (key: string) =>
        client(key, '', 5)
          .path('/translate')
          .post({ body: [{ text: 'Hello' }], queryParameters: { to: 'de' } });
      expect((await Promise.all([post(slow.key), post(slow.key)])).map(({ status }) => status)).toEqual(['200', '200']);
      await expect.poll(() => setting.gateway.charged(slow)).toBe(10);
    });
  });

  describe('POST /translate', () => {
    test('an empty text is answered with an empty one, without charge or engine, alone or among others', async () => {
      const own = await setting.gateway.team();
      const post = (body: unknown) => send('api-version=3.0&to=de&to=fr', body, of(own));
      const among = await post([{ Text: '' }, { Text: 'Hello' }]);
      const nothing = { translations: ['de', 'fr'].map((to) => ({ text: '', to })) };
      expect(found(among)).toEqual([nothing, expect.objectContaining({ detectedLanguage: { language: 'en', score: 1 } })]);
      expect(sent().map((body) => (body as { text: unknown }).text)).toEqual([['Hello'], ['Hello']]);
      const alone = await post([{ Text: '' }]);
      expect([found(alone), alone.header('x-metered-usage')]).toEqual([[nothing], '0']);
      expect(setting.engine.requests).toHaveLength(2);
      await expect.poll(() => setting.gateway.charged(own)).toBe(10);
    });

    test('html reaches the engine as html; parameters without effect do not', async () => {
      const harmless =
        'allowFallback=false&category=general&profanityAction=noaction&profanityMarker=Tag&includeAlignment=false&suggestedFrom=en';
      found(await send(`API-Version=3.0&TO=de&From=en-GB&texttype=Html&${harmless}&x=1`, [{ text: '<p>a</p>' }]));
      expect(sent()).toEqual([{ text: ['<p>a</p>'], source_lang: 'EN', target_lang: 'DE', format: 'html' }]);
    });

    test('a key counts in its field and as a bearer token, which takes precedence; nowhere else', async () => {
      const body = [{ Text: 'Hello' }];
      const query = 'api-version=3.0&to=de';
      found(await send(query, body, { headers: { [KEY_FIELD]: 'x', authorization: `Bearer ${team.key}` } }));
      found(await send(query, body, { headers: { 'vendor-auth-key': team.key } }));
      const refused: Record<string, string>[] = [
        {},
        { [KEY_FIELD]: 'x' },
        { [KEY_FIELD]: team.key, authorization: 'Bearer x' },
        { 'ocp-apim-key': team.key },
      ];
      for (const headers of refused) {
        const response = await send(`${query}&Subscription-Key=${team.key}`, body, { headers });
        expect(expectError(response, 401_000)).not.toContain(team.key);
        expect(response.header('www-authenticate')).toMatch(/^Bearer realm=/);
      }
      // These paths alone have this field.
      const ours = { method: 'POST', path: '/v1/translate', headers: { [KEY_FIELD]: team.key }, body: { text: ['a'], target_lang: 'DE' } };
      expectProblem(await ask(setting, ours), 'unauthorized');
    });

    test('an exhausted credit and a revoked key are reported by their numbers, whatever else is wrong', async () => {
      const body = [{ Text: 'Hello' }];
      const poor = await setting.gateway.team(CREDIT_PLAN, 0);
      expectError(await send('api-version=3.0&to=de', body, of(poor)), 403_001);
      answered(await setting.gateway.store.teams.revokeKey(poor.keyId));
      expectError(await send('api-version=1&to=zz', 'x', of(poor)), 401_000);
    });

    test.each([
      ['', 400_021],
      ['to=de', 400_021],
      ['api-version=2025-10-01-preview&to=de', 400_021],
      [`${V}&${V}&to=de`, 400_021],
      [V, 400_036],
      [`${V}&to=`, 400_036],
      [`${V}&to=xx`, 400_036],
      [`${V}&to=de,`, 400_036],
      [`${V}&to=de,zh-cht`, 400_036],
      [`${V}&to=de-Latn`, 400_036],
      [`${V}&to=zh-Hant`, 400_036],
      [`${V}&to=de&to=zh-tw`, 400_036],
      [`${V}${'&to=de'.repeat(51)}`, 400_036],
      [`${V}&to=${'de,'.repeat(50)}de`, 400_036],
      [`${V}&to=${'de,'.repeat(24)}de&to=${'de,'.repeat(25)}de`, 400_036],
      [`${V}&to=${','.repeat(5000)}`, 400_036],
      [`${V}&to=de&from=xx`, 400_035],
      [`${V}&to=de&from=en&from=en`, 400_035],
      [`${V}&to=de&textType=xml`, 400_071],
      [`${V}&to=de&category=mine`, 400_002],
      [`${V}&to=de&category=general&category=mine`, 400_002],
      [`${V}&to=de&suggestedFrom=xx`, 400_003],
      [`${V}&to=de&fromScript=Latn`, 400_080],
      [`${V}&to=de&toScript=Latn`, 400_080],
      [`${V}&to=de&profanityAction=Marked`, 400_000],
      [`${V}&to=de&profanityAction=Deleted`, 400_000],
      [`${V}&to=de&profanityAction=1`, 400_000],
      [`${V}&to=de&profanityMarker=1`, 400_000],
      [`${V}&to=de&allowFallback=1`, 400_000],
      [`${V}&to=de&includeAlignment=true`, 400_000],
      [`${V}&to=de&includeAlignment=true&includeAlignment=false`, 400_000],
      [`${V}&to=de&includeSentenceLength=true`, 400_000],
    ])('%s is refused by its number, and its parameter by name', async (query, number) => {
      const message = expectError(await send(query, [{ Text: 'Hello' }, { Text: '' }]), number);
      // The value is not quoted.
      const name = [...new URLSearchParams(query).keys()].at(-1) ?? 'api-version';
      if (number !== 400_021) expect(message).toContain(name === 'api-version' ? 'to: ' : name);
      expect(message).not.toMatch(/mine|2025|xx|zh-Hant/);
      expect(setting.engine.requests).toHaveLength(0);
    });

    test.each([
      ['to=DE&from=EN-us', 'EN', ['de']],
      ['from=zh-Hant&to=en', 'ZH', ['en']],
      ['from=&to=pt&to=PT-pt&to=pt-br', undefined, ['pt', 'pt-PT', 'pt-BR']],
      ['to=zh-Hans&to=ZH', undefined, ['zh-Hans', 'zh-Hans']],
      ['TO=fr&FROM=de&To=de', 'DE', ['fr', 'de']],
      ['to=de,fr&from=Auto', undefined, ['de', 'fr']],
      ['to=de%2cfr&to=zh-cn&to=pt,fr', undefined, ['de', 'fr', 'zh-Hans', 'pt', 'fr']],
      ['to=de-DE,fr-CA,en-AU&from=zh-cht', 'ZH', ['de', 'fr', 'en']],
      ['to=zh-chs&from=en-AU', 'EN', ['zh-Hans']],
      [
        'to=de&category=General&profanityAction=noAction&suggestedFrom=en-GB&fromScript=&toScript=&whatever=1&whatever=2',
        undefined,
        ['de'],
      ],
    ])('%s is accepted, and charged once for each target', async (query, source, codes) => {
      const response = await send(`api-version=3.0&${query}`, [{ Text: 'Hello' }, { Text: '' }]);
      const [first] = found(response) as [{ translations: { to: string }[] }];
      expect([first.translations.map(({ to }) => to), response.header('x-metered-usage')]).toEqual([codes, String(5 * codes.length)]);
      for (const body of sent()) expect((body as { source_lang?: string }).source_lang).toBe(source);
    });

    test('a fault of the texts comes before one of the parameters, and the plan’s length before both', async () => {
      const short = await setting.gateway.team({ ...QUOTA_PLAN, max_characters_per_request: 9 });
      const post = (query: string, body: unknown) => send(query, body, of(short));
      expect(expectError(await post('api-version=3.0&to=de&to=xx', [{ Text: 1 }]), 400_005)).not.toContain('to');
      expect(expectError(await post('api-version=3.0&to=de&to=xx', [{ Text: 'Hello' }]), 400_050)).toContain('10 characters');
    });

    test('its own limits: a body that is too long, another type, other methods', async () => {
      const query = 'api-version=3.0&to=de';
      expectError(await send(query, [{ Text: 'a'.repeat(1_100_000) }]), 400_077);
      expectError(await send(query, 'Text=a', { headers: { [KEY_FIELD]: team.key, 'content-type': 'text/plain' } }), 415_000);
      const wrong = await ask(setting, { path: `/translate?${query}` });
      expectError(wrong, 405_000);
      expect(wrong.header('allow')).toBe('POST');
    });
  });

  describe('POST /detect', () => {
    const detect = (texts: readonly string[], key = team.key, below = ''): Promise<HttpResponse> =>
      ask(setting, {
        method: 'POST',
        path: `${below}/detect?api-version=3.0`,
        headers: { [KEY_FIELD]: key },
        body: texts.map((Text) => ({ Text })),
      });
    const known = { language: 'en', score: 1, isTranslationSupported: true, isTransliterationSupported: false };
    const unknown = { language: 'und', score: 0, isTranslationSupported: false, isTransliterationSupported: false };

    test('returns the language of each text; undetermined for an empty one, and if the engine cannot detect it', async () => {
      expect(found(await detect(['Hello', '', 'Good bye'], team.key, BELOW))).toEqual([known, unknown, known]);
      setting.engine.always(answer('{"translations":[{"text":"x"}]}'));
      expect(found(await detect(['Hello']))).toEqual([unknown]);
      expect(found(await detect(['']))).toEqual([unknown]);
    });

    test('costs nothing, counts against the rate, and fails as translations do', async () => {
      const [own, both] = await withinASecond(async () => {
        const one = await setting.gateway.team({ ...QUOTA_PLAN, requests_per_second: 1, characters: 0 });
        return [one, await Promise.all([detect(['Hello'], one.key), detect(['Hello'], one.key)])] as const;
      });
      expect(both.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 429]);
      expect(await setting.gateway.charged(own)).toBe(0);
      expectError(await detect(Array.from({ length: 51 }, () => 'a')), 400_072);
      expectError(await detect(['x'.repeat(1001)]), 400_050);
      expectError(await ask(setting, { method: 'POST', path: '/detect', headers: { [KEY_FIELD]: team.key }, body: [] }), 400_021);
      setting.engine.always('reset');
      expectError(await detect(['Hello']), 503_000);
    });
  });

  test('slashes and the case of letters do not matter; other paths below /translator are refused in its form', async () => {
    for (const path of [`${BELOW}/others`, '/translator/text/batch/v1.1/batches', '/translator/document:translate', '/translator']) {
      for (const method of ['GET', 'POST']) expectError(await ask(setting, { method, path }), 404_000);
    }
    for (const path of ['/Languages', '//languages/', `/Translator/Text/V3.0/languages`, `${BELOW}//LANGUAGES`]) {
      expect((await ask(setting, { path: `${path}?api-version=3.0` })).status).toBe(200);
    }
    expectError(await ask(setting, { path: '/Translate/' }), 405_000);
    expectError(await ask(setting, { method: 'PUT', path: `${BELOW}/languages` }), 405_000);
  });
});
