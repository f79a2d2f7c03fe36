// `lingate/plugins/google-v2` as its callers see it, on both listeners and stores: shapes, keys, codes, formats, failures, costs.
import { beforeEach, describe, expect, test } from 'vitest';
import { answered as given } from '../../src/index.ts';
import { answer, CANARY } from '../../src/testing.ts';
import { ask, onOneGateway, oneTeam } from '../support/every-gateway.ts';
import type { Ask } from '../support/every-gateway.ts';
import { QUOTA_PLAN } from '../support/gateway.ts';
import type { HttpResponse } from '../support/raw-http.ts';

const V2 = '/language/translate/v2';
const FORM = { 'content-type': 'application/x-www-form-urlencoded' };
const UNKNOWN_KEY = `la_live_${'x'.repeat(40)}`;

/** Checks a failure in Google's form; returns its message. */
function expectError(response: HttpResponse, code: number, status: string, reason: string, domain = 'global'): string {
  const body = response.json() as { readonly error: { readonly message: string } };
  const { message } = body.error;
  expect([response.status, response.header('content-type'), body]).toEqual([
    code,
    'application/json',
    { error: { code, message: expect.any(String) as string, errors: [{ message, domain, reason }], status } },
  ]);
  expect(response.body).not.toContain(CANARY);
  expect([response.header('cache-control'), response.header('x-request-id')]).toEqual(['no-store', expect.any(String)]);
  return message;
}

const invalid = (response: HttpResponse, reason = 'invalid'): string => expectError(response, 400, 'INVALID_ARGUMENT', reason);

function answered(response: HttpResponse): unknown {
  expect([response.status, response.header('content-type'), response.body]).toEqual([200, 'application/json', expect.any(String)]);
  return (response.json() as { data: unknown }).data;
}

const SHORT_BODIES = { plugins: [{ module: 'lingate/plugins/google-v2' }], limits: { body_bytes: 20_000 } };

onOneGateway({ config: SHORT_BODIES }, (setting) => {
  const team = oneTeam(setting);
  beforeEach(() => setting.engine.forget());

  const post = (body: unknown, more: Partial<Ask> = {}): Promise<HttpResponse> =>
    ask(setting, { method: 'POST', path: V2, key: team.key, body, ...more });
  const translate = (more: object = {}): Promise<HttpResponse> => post({ q: 'Hello', source: 'en', target: 'de', ...more });
  const get = (path: string, more: Partial<Ask> = {}): Promise<HttpResponse> => ask(setting, { path, key: team.key, ...more });
  const sent = (): unknown[] => setting.engine.requests.map(({ body }) => JSON.parse(body) as unknown);
  /** The first 429: on a busy machine the second of the rate may be over before it comes. */
  const throttled = async (send: () => Promise<HttpResponse>): Promise<HttpResponse> => {
    for (;;) {
      const refused = (await Promise.all([1, 2, 3, 4].map(send))).find(({ status }) => status !== 200);
      if (refused !== undefined) return refused;
    }
  };

  describe('a translation', () => {
    test('is the same from JSON, from a form and from the query, with a slash after v2 and without', async () => {
      const own = await setting.gateway.team();
      const more = { key: own.key };
      const query = 'q=a&q=gr%C3%BC%C3%9Fe+%F0%9F%98%80&source=en&target=de&format=text';
      for (const path of [V2, `${V2}/`]) {
        for (const response of [
          await post({ q: ['a', 'grüße 😀'], source: 'en', target: 'de', format: 'text' }, { ...more, path }),
          await post(query, { ...more, path, headers: FORM }),
          await post('', { ...more, path: `${path}?${query}`, headers: FORM }),
          await post('q=a&q=gr%C3%BC%C3%9Fe+%F0%9F%98%80', { ...more, path: `${path}?source=en&target=de&format=text`, headers: FORM }),
          await get(`${path}?${query}`, more),
        ]) {
          expect(answered(response)).toEqual({ translations: [{ translatedText: '[DE] a' }, { translatedText: '[DE] grüße 😀' }] });
        }
      }
      expect(sent()).toEqual(Array.from({ length: 10 }, () => ({ text: ['a', 'grüße 😀'], source_lang: 'EN', target_lang: 'DE' })));
      await expect.poll(() => setting.gateway.charged(own)).toBe(10 * 8);
    });

    test('names the detected language only if no source was given, as Google writes it', async () => {
      expect(answered(await translate({ source: undefined }))).toEqual({
        translations: [{ translatedText: '[DE] Hello', detectedSourceLanguage: 'en' }],
      });
      for (const [ours, theirs] of [
        ['NB', 'no'],
        ['ZH', 'zh-CN'],
        ['HE', 'he'],
        ['xx', undefined],
      ] as const) {
        setting.engine.always(answer(`{"translations":[{"text":"x","detected_source_language":"${ours}"}]}`));
        expect(answered(await translate({ source: '' }))).toEqual({
          translations: [{ translatedText: 'x', ...(theirs === undefined ? {} : { detectedSourceLanguage: theirs }) }],
        });
        expect(answered(await translate())).toEqual({ translations: [{ translatedText: 'x' }] });
      }
    });

    test('into one of Google’s codes is into one of ours; traditional Chinese is never answered in simplified', async () => {
      for (const [target, ours] of [
        ['zh-CN', 'ZH'],
        ['iw', 'HE'],
        ['no', 'NB'],
        ['pt', 'PT-PT'],
      ]) {
        expect(answered(await translate({ target }))).toMatchObject({ translations: [{ translatedText: `[${ours}] Hello` }] });
      }
      for (const target of ['zh-TW', 'zz', ['de'], 1]) expect(invalid(await translate({ target }))).toContain('Invalid Value: target');
    });

    test('from the languages of the list, and from the base of a variant', async () => {
      for (const source of ['no', 'zh-TW', 'pt-BR']) answered(await translate({ source }));
      expect(sent()).toMatchObject([{ source_lang: 'NB' }, { source_lang: 'ZH' }, { source_lang: 'PT' }]);
      expect(invalid(await translate({ source: 'auto' }))).toContain('Invalid Value: source');
    });

    test('is HTML unless text is requested; the model is checked but has no effect', async () => {
      for (const model of ['nmt', 'base', undefined]) answered(await translate({ q: '<b>a</b> &amp; b', model }));
      answered(await translate({ format: 'text', q: 'a < b & c' }));
      expect(sent()).toMatchObject([{ format: 'html' }, { format: 'html' }, { format: 'html' }, { text: ['a < b & c'] }]);
      expect(sent()[3]).not.toHaveProperty('format');
      expect(invalid(await translate({ format: 'xml' }))).toBe('format: must be text or html.');
      expect(invalid(await translate({ model: 'turbo' }))).toBe('model: must be one of nmt, base.');
    });

    test('of an empty text among others is an empty one, without charge and without the engine', async () => {
      const own = await setting.gateway.team();
      const body = { q: ['', 'a', '', 'b'], target: 'de' };
      expect(answered(await post(body, { key: own.key }))).toEqual({
        translations: [
          { translatedText: '' },
          { translatedText: '[DE] a', detectedSourceLanguage: 'en' },
          { translatedText: '' },
          { translatedText: '[DE] b', detectedSourceLanguage: 'en' },
        ],
      });
      expect(sent()).toMatchObject([{ text: ['a', 'b'] }]);
      await expect.poll(() => setting.gateway.charged(own)).toBe(2);
    });
  });

  describe('an invalid request', () => {
    test.each([
      [{ q: undefined }, 'required', 'Required Text'],
      [{ q: '' }, 'required', 'Required Text'],
      [{ q: [] }, 'required', 'Required Text'],
      [{ q: ['', ''] }, 'required', 'Required Text'],
      [{ q: ['a', 1] }, 'invalid', 'q: must be a string'],
      [{ q: { a: 1 } }, 'invalid', 'q: must be a string'],
      [{ q: 'a\ud800' }, 'invalid', 'surrogate'],
      [{ q: Array.from({ length: 129 }, () => 'a') }, 'invalid', 'Too many text segments: at most 128'],
      [{ target: undefined }, 'required', 'Required Value: target'],
      [{ formality: 'more' }, 'invalid', 'Unknown name: formality. Accepted are q, target, source, format, model.'],
      [{ cid: 'x', glossary: 1 }, 'invalid', 'Unknown name: cid, glossary.'],
      [{ callback: 'f' }, 'invalid', 'Unknown name: callback.'],
      [{ alt: 'media' }, 'invalid', 'alt: answers are json only.'],
    ])('%j is a 400', async (body, reason, words) => {
      expect(invalid(await translate(body), reason)).toContain(words);
      expect(setting.engine.requests).toEqual([]);
    });

    test('is refused after a text that is too long; parameters of all Google APIs are accepted', async () => {
      const short = await setting.gateway.team({ ...QUOTA_PLAN, max_characters_per_request: 4 });
      expect(invalid(await post({ q: 'Hello', target: 'zz' }, { key: short.key }))).toBe(
        'Text too long: 5 characters in total; at most 4 are allowed in a request.',
      );
      const standard = 'prettyPrint=false&alt=json&fields=data&quotaUser=u&userIp=1&access_token=t&oauth_token=t&%24.xgafv=1&key=k';
      answered(await get(`${V2}?q=a&target=de&${standard}`));
    });

    test('the query and the body are read strictly, and no parameter from both', async () => {
      expect(invalid(await post({ q: 'a' }, { path: `${V2}?target=de&q=b` }))).toBe('q: must not be both in the query and in the body.');
      expect(invalid(await get(`${V2}?q=%ff&target=de`))).toContain('query: an escape');
      expect(invalid(await get(`${V2}?q=a&target=de&target=fr`))).toContain('Invalid Value: target');
      expect(invalid(await post('{"q":'))).toBe('body: must be well-formed JSON.');
      expect(invalid(await post('a', { headers: { 'content-type': 'text/plain' } }))).toContain('Content-Type');
      expectError(await post({ q: 'a'.repeat(20_001) }), 413, 'INVALID_ARGUMENT', 'uploadTooLarge');
    });
  });

  test('members that are null or empty are as if they were not there; others that are unknown are refused', async () => {
    const nothing = { cid: [], source: null, model: '', format: null, glossary: {}, anything: [] };
    expect(answered(await post({ q: 'a', target: 'de', ...nothing }))).toMatchObject({ translations: [{ translatedText: '[DE] a' }] });
    expect(answered(await post('q=a&target=de&source=&cid=', { headers: FORM }))).toMatchObject({ translations: [{}] });
    expect(invalid(await post({ q: 'a', target: 'de', cid: ['mine'] }))).toContain('Unknown name: cid');
    expect(invalid(await post({ q: [], target: 'de' }), 'required')).toContain('q must have');
    expect(invalid(await post({ q: 'a', target: [] }), 'required')).toContain('target');
  });

  test('a bad key is a 400 of its own; where keys are accepted', async () => {
    const body = { q: 'a', target: 'de' };
    const byField = (value: string, more: object = {}) => post(body, { key: undefined, headers: { 'x-goog-api-key': value }, ...more });
    answered(await byField(team.key));
    answered(await byField('nonsense', { key: team.key, headers: { authorization: `Bearer ${team.key}`, 'x-goog-api-key': 'nonsense' } }));
    const gone = await setting.gateway.team();
    given(await setting.gateway.store.teams.revokeKey(gone.keyId));
    for (const key of ['nonsense', UNKNOWN_KEY, gone.key]) {
      expect(invalid(await byField(key), 'API_KEY_INVALID')).toMatch(/^API key not valid\. /);
      expect(invalid(await post(body, { key }), 'API_KEY_INVALID')).toMatch(/^API key not valid\. /);
      expect(invalid(await get(`${V2}/languages`, { key }), 'API_KEY_INVALID')).toMatch(/^API key not valid\. /);
    }
    // Keys in the query are accepted only if the operator allows it, and never in a body.
    for (const [path, more] of [
      [`${V2}?key=${team.key}`, {}],
      [`${V2}?access_token=${team.key}`, {}],
      [V2, { key: team.key }],
    ] as const) {
      const words = invalid(await post({ ...body, ...more }, { path, key: undefined }), 'API_KEY_INVALID');
      expect(words).toBe(
        'API key not valid. Send one as "X-Goog-Api-Key: <key>" or "Authorization: Bearer <key>"; a key in the query is not accepted here.',
      );
    }
    expect(setting.engine.requests).toHaveLength(2);
  });

  test('an exhausted quota, too many requests and an unavailable engine are reported in Google’s words', async () => {
    const poor = await setting.gateway.team({ ...QUOTA_PLAN, characters: 4 });
    expectError(await post({ q: 'Hello', target: 'de' }, { key: poor.key }), 403, 'PERMISSION_DENIED', 'dailyLimitExceeded', 'usageLimits');
    const slow = await setting.gateway.team({ ...QUOTA_PLAN, requests_per_second: 1 });
    const refused = await throttled(() => post({ q: 'a', target: 'de' }, { key: slow.key }));
    expectError(refused, 429, 'RESOURCE_EXHAUSTED', 'rateLimitExceeded', 'usageLimits');
    expect([refused.header('retry-after'), refused.header('x-ratelimit-limit')]).toEqual(['1', '1']);
    setting.engine.always('reset');
    const failed = await translate();
    expectError(failed, 503, 'UNAVAILABLE', 'backendError');
    expect(failed.header('retry-after')).toBe('5');
  });

  describe('a detection', () => {
    const detect = (body: unknown, more: Partial<Ask> = {}): Promise<HttpResponse> => post(body, { path: `${V2}/detect`, ...more });
    const found = (language: string, confidence = 1) => [{ language, isReliable: false, confidence }];

    test('returns the language of each text, from JSON, a form and the query; it costs nothing but counts against the rate', async () => {
      const own = await setting.gateway.team({ ...QUOTA_PLAN, requests_per_second: 3, characters: 0 });
      const more = { key: own.key };
      expect(answered(await detect({ q: ['Hello', '', 'you'] }, more))).toEqual({
        detections: [found('en'), found('und', 0), found('en')],
      });
      expect(answered(await detect('q=Hello', { ...more, headers: FORM }))).toEqual({ detections: [found('en')] });
      expect(answered(await get(`${V2}/detect?q=Hello`, more))).toEqual({ detections: [found('en')] });
      expectError(await throttled(() => detect({ q: 'Hello' }, more)), 429, 'RESOURCE_EXHAUSTED', 'rateLimitExceeded', 'usageLimits');
      expect(await setting.gateway.charged(own)).toBe(0);
    });

    test('of 128 texts sends their beginnings to the engine, in pieces', async () => {
      const q = Array.from({ length: 128 }, () => 'x'.repeat(120));
      const roomy = await setting.gateway.team({ ...QUOTA_PLAN, max_characters_per_request: 20_000 });
      const { detections } = answered(await detect({ q }, { key: roomy.key })) as { detections: unknown[] };
      expect(detections).toEqual(q.map(() => found('en')));
      expect(sent().map((one) => (one as { text: string[] }).text.length)).toEqual([43, 43, 42]);
      for (const one of sent()) for (const text of (one as { text: string[] }).text) expect(text).toHaveLength(100);
    });

    test('fails as translations do', async () => {
      expect(invalid(await detect({}), 'required')).toContain('Required Text');
      expect(invalid(await detect({ q: 'a', target: 'de' }))).toBe('Unknown name: target. Accepted are q.');
      expect(invalid(await detect({ q: 'x'.repeat(1001) }))).toContain('at most 1000');
      setting.engine.always('reset');
      expectError(await detect({ q: 'Hello' }), 503, 'UNAVAILABLE', 'backendError');
    });
  });

  const namesOf = async (target: string): Promise<Readonly<Record<string, string | undefined>>> => {
    const { languages } = answered(await get(`${V2}/languages?target=${target}`)) as { languages: { language: string; name?: string }[] };
    return Object.fromEntries(languages.map(({ language, name }) => [language, name]));
  };

  test('languages: each is a source or a target; with names if a language for them is given', async () => {
    const { languages } = answered(await get(`${V2}/languages`)) as { languages: { language: string }[] };
    const codes = languages.map(({ language }) => language);
    expect([codes.length, codes, codes.toSorted()]).toEqual([40, [...new Set(codes)], codes]);
    expect(codes).toEqual(expect.arrayContaining(['zh-CN', 'no', 'en', 'en-GB', 'pt', 'pt-BR']));
    for (const target of codes) answered(await translate({ target, q: 'a' }));
    expect(answered(await get(`${V2}/languages?target=fr&model=nmt&prettyPrint=false`))).toEqual({
      languages: expect.arrayContaining([
        { language: 'de', name: 'Allemand' },
        { language: 'pt-BR', name: 'Portugais (Brésil)' },
        { language: 'zh-CN', name: 'Chinois (simplifié)' },
      ]) as unknown,
    });
    // English names are those of the list; the reader's language need not be in it.
    expect(await namesOf('en')).toMatchObject({ de: 'German', 'zh-CN': 'Chinese' });
    expect(await namesOf('af')).toMatchObject({ de: 'Duits' });
    expect(await namesOf('zh-TW')).toMatchObject({ de: '德文' });
    expect(await namesOf('zh-CN')).toMatchObject({ de: '德语' });
    for (let i = 0; i < 2; i++) expect(await namesOf('no')).toMatchObject({ de: 'Tysk' });
    const posted = await ask(setting, { method: 'POST', path: `${V2}/languages`, key: team.key, body: { target: 'de', model: null } });
    expect(answered(posted)).toMatchObject({ languages: expect.arrayContaining([{ language: 'de', name: 'Deutsch' }]) as unknown });
    expect(invalid(await get(`${V2}/languages?target=zz`))).toContain('Invalid Value: target');
    expect(invalid(await get(`${V2}/languages?target=en-US-u-ca-buddhist`))).toContain('Invalid Value: target');
    expect(invalid(await get(`${V2}/languages?q=a`))).toBe('Unknown name: q. Accepted are target, model.');
  });

  test('unsupported paths are Google’s 404, other methods its 405, and /v1 stays strict', async () => {
    for (const path of [`${V2}/documents`, '/language/translate', '/language/translate/v3']) {
      expectError(await ask(setting, { method: 'POST', path, body: {} }), 404, 'NOT_FOUND', 'notFound');
    }
    const wrong = await ask(setting, { method: 'DELETE', path: V2 });
    expectError(wrong, 405, 'UNIMPLEMENTED', 'httpMethodNotAllowed');
    expect(wrong.header('allow')).toBe('POST, GET');
    const v1 = await ask(setting, {
      method: 'POST',
      path: `/v1/translate?key=${team.key}`,
      headers: { 'x-goog-api-key': team.key },
      body: { text: ['a'], target_lang: 'DE' },
    });
    expect([v1.status, (v1.json() as { code: string }).code]).toEqual([401, 'unauthorized']);
  });
});

onOneGateway({ config: { plugins: [{ module: 'lingate/plugins/google-v2', options: { key_in_body: true } }] } }, (setting) => {
  test('with key_in_body a key is accepted in a form or JSON, after headers, on every route', async () => {
    const { key } = await setting.gateway.team();
    const send = (body: unknown, more: Partial<Ask> = {}) => ask(setting, { method: 'POST', path: V2, body, ...more });
    const form = (fields: Readonly<Record<string, string>>, path = V2, headers: Readonly<Record<string, string>> = {}) =>
      send(new URLSearchParams(fields).toString(), { path, headers: { ...FORM, ...headers } });
    const translated = { translations: [{ translatedText: '[DE] a' }] };
    const hello = { q: 'a', source: 'en', target: 'de', format: 'text' };
    expect(answered(await form({ ...hello, key }))).toEqual(translated);
    // The method that a client writes there is the one of the route with the same parameters.
    expect(answered(await form({ ...hello, key }, V2, { 'x-http-method-override': 'GET' }))).toEqual(translated);
    expect(answered(await send({ ...hello, key }))).toEqual(translated);
    expect(answered(await send({ ...hello, key: UNKNOWN_KEY }, { key }))).toEqual(translated);
    expect(answered(await form({ q: 'a', key }, `${V2}/detect`))).toMatchObject({ detections: [[{ language: 'en' }]] });
    expect(answered(await form({ target: 'de', key }, `${V2}/languages`))).toMatchObject({
      languages: expect.arrayContaining([{ language: 'de', name: 'Deutsch' }]) as unknown,
    });
    // A long body is only searched for the key first.
    expect(
      answered(await send({ key, ...hello, q: ['a'.repeat(900), ...Array.from({ length: 40 }, () => '')], userIp: 'x'.repeat(40_000) })),
    ).toBeDefined();
    for (const bad of ['nonsense', UNKNOWN_KEY]) invalid(await form({ ...hello, key: bad }), 'API_KEY_INVALID');
    invalid(await send(`key=${key}&key=${key}&q=a&target=de`, { headers: FORM }), 'API_KEY_INVALID');
    const words =
      'API key not valid. Send one as "X-Goog-Api-Key: <key>", "Authorization: Bearer <key>" or key in the body; a key in the query is not accepted here.';
    expect(invalid(await form(hello), 'API_KEY_INVALID')).toBe(words);
    expect(invalid(await form(hello, `${V2}?key=${key}`), 'API_KEY_INVALID')).toBe(words);
    expect(invalid(await ask(setting, { path: `${V2}/languages` }), 'API_KEY_INVALID')).toBe(words);
    expect(answered(await ask(setting, { path: `${V2}/languages`, key }))).toBeDefined();
  });
});

const NO_HTML = { protocol: 'apertium', pairs: 'any' };

onOneGateway({ config: { plugins: [{ module: 'lingate/plugins/google-v2' }], engine: NO_HTML } }, (setting) => {
  test('an engine without HTML: HTML without markup is sent as text and returned escaped, all else is a 400', async () => {
    const { key, teamId } = await setting.gateway.team();
    setting.engine.always((received, response) => {
      const q = new URLSearchParams(received.body).get('q')!;
      response.end(JSON.stringify({ responseData: { translatedText: `<${q}> & "so"` }, responseStatus: 200 }));
    });
    const translate = (body: object): Promise<HttpResponse> =>
      ask(setting, { method: 'POST', path: V2, key, body: { source: 'en', target: 'es', ...body } });
    const translated = (text: string): unknown => ({ translations: [{ translatedText: text }] });
    for (const format of [undefined, 'html']) {
      expect(answered(await translate({ q: "it's > that", format }))).toEqual(
        translated('&lt;it&#39;s &gt; that&gt; &amp; &quot;so&quot;'),
      );
      for (const q of ['<b>a</b>', 'a &amp; b', ['a', 'b < c']]) {
        expect(invalid(await translate({ q, format }))).toContain('format: the engine of this service does not support html');
      }
    }
    expect(answered(await translate({ q: '<b>a</b>', format: 'text' }))).toEqual(translated('<<b>a</b>> & "so"'));
    const standing = async (): Promise<unknown> => given(await setting.gateway.store.teams.standing(teamId));
    await expect.poll(standing).toMatchObject({ usedCharacters: 2 * 11 + 8, openReservations: 0 });
  });
});
