// DeepL's own client for Node, unchanged, with `lingate/plugins/deepl-v2`, on both listeners and stores: what works.
import { DeepLClient, GlossaryEntries } from 'deepl-node';
import type { Formality, GlossaryInfo, TargetLanguageCode, TranslateTextOptions } from 'deepl-node';
import { beforeEach, expect, test } from 'vitest';
import { answered } from '../../src/index.ts';
import { ask, onOneGateway, oneTeam } from '../support/every-gateway.ts';
import type { Ask } from '../support/every-gateway.ts';
import { CREDIT_PLAN, QUOTA_PLAN } from '../support/gateway.ts';
import type { TestTeam } from '../support/gateway.ts';
import { withinASecond } from '../support/within-a-second.ts';

const FORM = { 'content-type': 'application/x-www-form-urlencoded' };

onOneGateway({ config: { plugins: [{ module: 'lingate/plugins/deepl-v2' }] } }, (setting) => {
  const team = oneTeam(setting);
  beforeEach(() => setting.engine.forget());

  const client = (key = team.key): DeepLClient => new DeepLClient(key, { serverUrl: `http://127.0.0.1:${setting.gateway.port}` });
  const post = (body: unknown, more: Partial<Ask> = {}) =>
    ask(setting, { method: 'POST', path: '/v2/translate', key: team.key, body, ...more });
  /** The bodies that the engine received. */
  const sent = (): unknown[] => setting.engine.requests.map(({ body }) => JSON.parse(body) as unknown);

  test('one text and a list are translated, each with its language and its price', async () => {
    const one = await client().translateText('Hello', 'en', 'de');
    expect(one).toEqual({ text: '[DE] Hello', detectedSourceLang: 'en', billedCharacters: 5, modelTypeUsed: undefined });
    const list = await client().translateText(['grüße 😀', 'b & c; d+e=f%'], null, 'en-US');
    expect(list.map(({ text }) => text)).toEqual(['[EN-US] grüße 😀', '[EN-US] b & c; d+e=f%']);
    expect(list.map(({ billedCharacters }) => billedCharacters)).toEqual([7, 13]);
    expect(list.map(({ detectedSourceLang }) => detectedSourceLang)).toEqual(['en', 'en']);
  });

  test('formality, context and tags reach the engine; options of one engine are checked and left out', async () => {
    const options: TranslateTextOptions = {
      formality: 'prefer_less',
      context: 'A letter.',
      tagHandling: 'xml',
      ignoreTags: ['x', 'code'],
      splittingTags: 'p',
      nonSplittingTags: ['i'],
      outlineDetection: false,
      splitSentences: 'nonewlines',
      preserveFormatting: true,
      modelType: 'prefer_quality_optimized',
    };
    const { modelTypeUsed } = await client().translateText('<p>a</p>', 'en', 'de', options);
    expect(modelTypeUsed).toBe('quality_optimized');
    await client().translateText('<p>a</p>', 'en', 'de', { tagHandling: 'html', formality: 'default', context: '' });
    expect(sent()).toEqual([
      {
        text: ['<p>a</p>'],
        source_lang: 'EN',
        target_lang: 'DE',
        formality: 'prefer_less',
        context: 'A letter.',
        format: 'xml',
        ignore_tags: ['x', 'code'],
      },
      { text: ['<p>a</p>'], source_lang: 'EN', target_lang: 'DE', format: 'html' },
    ]);
  });

  test('a formality that is only preferred is left out for a target without it', async () => {
    await client().translateText('a', null, 'tr', { formality: 'prefer_more' });
    await client().translateText('a', null, 'DE' as TargetLanguageCode, { formality: 'LESS' as Formality });
    expect(sent()).toEqual([
      { text: ['a'], target_lang: 'TR' },
      { text: ['a'], target_lang: 'DE', formality: 'less' },
    ]);
  });

  test('bare targets mean the configured variant, and traditional Chinese is not answered in simplified', async () => {
    const targets = ['EN', 'pt', 'ZH-HANS', 'pt-br'];
    for (const target of targets) expect((await post({ text: ['a'], target_lang: target })).status).toBe(200);
    expect(sent()).toEqual(['EN-GB', 'PT-PT', 'ZH', 'PT-BR'].map((target) => ({ text: ['a'], target_lang: target })));
    const refused = await post({ text: ['a'], target_lang: 'zh-hant' });
    expect([refused.status, refused.json()]).toMatchObject([400, { code: 'invalid_target_lang' }]);
  });

  test('of several glossaries the first that has a term decides; each must exist and have the pair', async () => {
    const { key, teamId } = await setting.gateway.team({ ...QUOTA_PLAN, max_glossaries: 9 });
    const own = client(key);
    const made = async (entries: Record<string, string>, to: 'de' | 'fr' = 'de'): Promise<GlossaryInfo> =>
      own.createGlossary('Terms', 'en', to, new GlossaryEntries({ entries }));
    const [first, second, french] = [await made({ a: '1', b: '1' }), await made({ b: '2', c: '2' }), await made({ a: '3' }, 'fr')];
    await own.translateText('a b c', 'en', 'de', { glossaryIds: [first, second] });
    await own.translateText('a b c', 'en', 'de', { glossaryIds: [second.glossaryId, first.glossaryId] });
    await own.translateText('a b c', 'en', 'de', { glossaryIds: [first] });
    const glossaries = sent().map((body) => (body as { glossary: { id: string; entries: unknown } }).glossary);
    expect(glossaries.map(({ entries }) => entries)).toEqual([
      { a: '1', b: '1', c: '2' },
      { a: '1', b: '2', c: '2' },
      { a: '1', b: '1' },
    ]);
    expect(new Set(glossaries.map(({ id }) => id)).size).toBe(3);
    const nobodys = '0199c6d4-7a3b-7f00-8000-000000000000';
    for (const glossaryIds of [[first.glossaryId, nobodys], [nobodys]]) {
      await expect(own.translateText('a', 'en', 'de', { glossaryIds })).rejects.toThrow('Not found');
    }
    await expect(own.translateText('a', 'en', 'de', { glossaryIds: [first, french] })).rejects.toThrow('No dictionary found');
    expect(setting.engine.requests).toHaveLength(3);
    await expect.poll(() => setting.gateway.charged({ teamId })).toBe(15);
  });

  test('an empty text among others is answered with an empty text, without the engine and without charge', async () => {
    const { key, teamId } = await setting.gateway.team();
    const answers = await client(key).translateText(['Hello', 'World'], null, 'de');
    expect(answers).toHaveLength(2);
    setting.engine.forget();
    const body = { text: ['', 'Hello', '', 'World'], target_lang: 'DE', source_lang: 'EN', show_billed_characters: true };
    const response = await post(body, { key });
    const { translations } = response.json() as {
      translations: { text: string; billed_characters: number; detected_source_language: string }[];
    };
    expect(translations.map((one) => [one.text, one.billed_characters, one.detected_source_language])).toEqual([
      ['', 0, 'EN'],
      ['[DE] Hello', 5, 'EN'],
      ['', 0, 'EN'],
      ['[DE] World', 5, 'EN'],
    ]);
    expect(sent()).toEqual([{ text: ['Hello', 'World'], target_lang: 'DE', source_lang: 'EN' }]);
    await expect.poll(() => setting.gateway.charged({ teamId })).toBe(20);
  });

  test('only empty texts are answered with empty texts, count against the rate, and reach neither the engine nor the account', async () => {
    const own = await setting.gateway.team({ ...QUOTA_PLAN, characters: 0 });
    setting.engine.forget();
    const posted = ({ key }: Pick<TestTeam, 'key'>, body: object) => post({ target_lang: 'DE', ...body }, { key });
    const nothing = { detected_source_language: 'UND', text: '' };
    for (const text of ['', ['']]) expect((await posted(own, { text })).json()).toEqual({ translations: [nothing] });
    expect((await posted(own, { text: ['', ''], show_billed_characters: 1 })).json()).toEqual({
      translations: [
        { ...nothing, billed_characters: 0 },
        { ...nothing, billed_characters: 0 },
      ],
    });
    const answers = await withinASecond(async () => {
      const slow = await setting.gateway.team({ ...QUOTA_PLAN, characters: 0, requests_per_second: 1 });
      return Promise.all([1, 2].map(() => posted(slow, { text: [''] })));
    });
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 429]);
    expect(setting.engine.requests).toEqual([]);
    expect(await setting.gateway.charged(own)).toBe(0);
    // What reserves nothing is no request of the account either.
    expect(answered(await setting.gateway.store.teams.usage(own.teamId))?.keys).toMatchObject([{ requests: 0 }]);
  });

  test('a glossary of only empty texts is looked for all the same', async () => {
    const body = { text: [''], source_lang: 'EN', target_lang: 'DE', glossary_id: '0189d5d3-6d2c-7000-8000-000000000000' };
    expect((await post(body)).status).toBe(404);
  });

  test('slashes do not matter, letters do, and the rest of the API is a 404 with a message, whatever the method, even without a key', async () => {
    const body = { text: ['a'], target_lang: 'DE' };
    for (const path of ['//v2/translate', '/v2//translate/', '/v2/translate//']) {
      expect((await post(body, { path })).status).toBe(200);
    }
    for (const [method, path] of [
      ['POST', '/v2/Translate'],
      ['GET', '/v1/voice/realtime'],
      ['POST', '/v1/v2/translate'],
      ['OPTIONS', '/v1/none'],
      ['PURGE', '/v3/none'],
      ['GET', '/v2/documents'],
      ['POST', '/v2/document/abc/pages'],
      ['DELETE', '/v3/nothing/at/all'],
      ['PATCH', '/v2/x'],
    ] as const) {
      const missing = await ask(setting, { method, path });
      expect(missing.header('x-trace-id')).toBe(missing.header('x-request-id'));
      expect([method, path, missing.status, missing.json()]).toMatchObject([
        method,
        path,
        404,
        { code: 'not_found', message: 'Not found' },
      ]);
    }
    // The gateway's own paths stay exact, and have no message.
    const exact = await ask(setting, { method: 'POST', path: '/v1/translate/', key: team.key, body });
    expect([exact.status, Object.keys(exact.json() as object)]).toEqual([404, ['type', 'title', 'status', 'code', 'detail', 'request_id']]);
  });

  test.each([
    [{ style_id: 'x' }, 'style_id'],
    [{ translation_memory_id: 'x' }, 'translation_memory_id'],
    [{ translation_memory_threshold: 0 }, 'translation_memory_threshold'],
    [{ custom_instructions: ['Be brief'] }, 'custom_instructions'],
    [{ custom_instructions: 'Be brief' }, 'custom_instructions'],
    [{ tag_handling: 'html', ignore_tags: ['x'] }, 'ignore_tags'],
  ])('%j is refused by name', async (more, name) => {
    const response = await post({ text: ['a'], target_lang: 'DE', ...more });
    expect([response.status, response.json()]).toMatchObject([
      400,
      { code: 'validation_error', detail: expect.stringContaining(name) as string },
    ]);
  });

  test('empty options are fine, and a context may be as long as the body', async () => {
    const context = 'é'.repeat(10_000);
    const body = { text: ['a'], target_lang: 'DE', style_id: '', custom_instructions: [], translation_memory_id: null, context };
    expect((await post(body)).status).toBe(200);
    expect(sent()).toEqual([{ text: ['a'], target_lang: 'DE', context }]);
  });

  test('advice names this API’s way of sending a key', async () => {
    const response = await post({ text: ['a'], target_lang: 'DE' }, { key: undefined });
    expect(response.json()).toMatchObject({ detail: expect.stringContaining('DeepL-Auth-Key') as string });
  });

  test('JSON works like forms, the key may be in any of its fields, and unknown parameters are ignored', async () => {
    const by = (headers: Readonly<Record<string, string>>, body: unknown) => post(body, { key: undefined, headers });
    const json = { text: ['a', 'b'], target_lang: 'de', show_billed_characters: true, anything: [{}], formality: null };
    const form = 'text=a&text=b&target_lang=DE&show_billed_characters=1&anything=1&anything=2&__proto__=x';
    const expected = {
      translations: ['a', 'b'].map((text) => ({ detected_source_language: 'EN', text: `[DE] ${text}`, billed_characters: 1 })),
    };
    const names = [`DeepL-Auth-Key ${team.key}`, `Bearer ${team.key}`].map((authorization) => ({ authorization }));
    for (const key of [...names, { 'deepl-auth-key': team.key }]) {
      expect((await by(key, json)).json()).toEqual(expected);
      expect((await by({ ...key, ...FORM }, form)).json()).toEqual(expected);
    }
    const one = await by({ authorization: `DeepL-Auth-Key ${team.key}` }, { text: 'a', target_lang: 'DE' });
    expect(one.json()).toEqual({ translations: [{ detected_source_language: 'EN', text: '[DE] a' }] });
  });

  test('languages are those of /v1, whether the type is in the query or in a body', async () => {
    const v1 = async (type: string): Promise<unknown> => (await ask(setting, { path: `/v1/languages?type=${type}`, key: team.key })).json();
    const v2 = async (query: string, body?: unknown, headers = {}): Promise<unknown> =>
      (await ask(setting, { path: `/v2/languages${query}`, key: team.key, body, headers })).json();
    const [source, target] = [await v1('source'), await v1('target')];
    expect(await v2('')).toEqual(source);
    expect(await v2('?type=source')).toEqual(source);
    expect(await v2('?type=target')).toEqual(target);
    expect(await v2('', 'type=target', FORM)).toEqual(target);
    expect(await v2('', { type: 'target' })).toEqual(target);
    expect(await v2('', {})).toEqual(source);
    expect(await v2('', { type: '' })).toEqual(source);
    expect(await v2('', { type: [] })).toMatchObject({ status: 400, code: 'validation_error' });
    expect(await v2('?type=target', { type: 'source' })).toEqual(target);
    expect(await v2('?type=target&note=100%')).toEqual(target);
    for (const query of ['?type=', '?type=all', '?type=target&type=target']) {
      expect(await v2(query, { type: 'target' })).toMatchObject({ status: 400, code: 'validation_error' });
    }
    const targets = await client().getTargetLanguages();
    expect(targets).toHaveLength(38);
    expect(targets).toContainEqual({ code: 'de', name: 'German', supportsFormality: true });
    expect((await client().getSourceLanguages()).map(({ code }) => code)).toContain('en');
  });

  test("a glossary's wrong id is reported before a wrong query, and after a wrong body", async () => {
    const refused = async (method: string, path: string, body?: object): Promise<unknown> => {
      const response = await ask(setting, { method, path: `/v3/glossaries/none/${path}`, key: team.key, body });
      return [response.status, (response.json() as { code: string }).code];
    };
    const wrong = { source_lang: 'xx', target_lang: 'de' };
    const query = new URLSearchParams(wrong).toString();
    expect(await refused('GET', `entries?${query}`)).toEqual([400, 'validation_error']);
    expect(await refused('DELETE', `dictionaries?${query}`)).toEqual([400, 'validation_error']);
    expect(await refused('PUT', 'dictionaries', wrong)).toEqual([400, 'invalid_source_lang']);
  });

  test('a list or an object is no name, no format and no entries of a glossary', async () => {
    const glossary = { name: 'Terms', source_lang: 'en', target_lang: 'de', entries: 'a\tb' };
    const create = (body: object) => post({ ...glossary, ...body }, { path: '/v2/glossaries' });
    for (const value of [[], [''], {}]) {
      for (const name of ['name', 'entries']) {
        expect((await create({ [name]: value })).json()).toMatchObject({ status: 400, detail: `'${name}' must be a string, given once.` });
      }
      expect((await create({ entries_format: value })).json()).toMatchObject({ status: 400, code: 'validation_error' });
    }
  });

  test('the usage that the client reads matches our accounts, with a quota and with credit', async () => {
    const quota = await setting.gateway.team({ ...QUOTA_PLAN, characters: 30 });
    await client(quota.key).translateText(['grüße 😀', 'abc'], null, 'de');
    await expect.poll(() => setting.gateway.charged(quota)).toBe(10);
    const usage = await client(quota.key).getUsage();
    expect([usage.character?.count, usage.character?.limit, usage.anyLimitReached()]).toEqual([10, 30, false]);
    const account = (await ask(setting, { path: '/v1/usage', key: quota.key })).json() as Record<string, unknown>;
    expect([account['character_count'], account['character_limit']]).toEqual([10, 30]);

    // 2500 of the smallest coins for a million characters: 400 for each coin.
    const credit = await setting.gateway.team(CREDIT_PLAN, 3);
    await client(credit.key).translateText('Hello', null, 'de');
    await expect.poll(() => setting.gateway.charged(credit)).toBe(5);
    expect((await client(credit.key).getUsage()).character).toMatchObject({ count: 5, limit: 1200 });
  });
});
