// Pairs that are not offered: refused on every front, after the admission and without asking the engine; the lists match.
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { answered } from '../../src/index.ts';
import { startScriptedEngine } from '../../src/testing.ts';
import { ask, onOneGateway, oneTeam } from '../support/every-gateway.ts';
import { FACADES, FRONTS } from '../support/fronts.ts';
import { QUOTA_PLAN } from '../support/gateway.ts';
import { request } from '../support/raw-http.ts';
import type { HttpResponse } from '../support/raw-http.ts';
import { logged, openSite, translate } from '../support/site.ts';
import type { Site } from '../support/site.ts';
import { withinASecond } from '../support/within-a-second.ts';

const LISTED = { plugins: FACADES, engine: { timeout_ms: 20_000, pairs: ['EN-DE', 'ES-EN', 'DE-PT-BR'] } };
const codesOf = (response: HttpResponse): string[] => (response.json() as { language: string }[]).map(({ language }) => language);

onOneGateway({ config: LISTED }, (setting) => {
  const team = oneTeam(setting);
  afterEach(() => setting.engine.forget());

  const get = (path: string): Promise<HttpResponse> => ask(setting, { path, key: team.key });
  const v1 = (body: object, key = team.key): Promise<HttpResponse> =>
    ask(setting, { method: 'POST', path: '/v1/translate', key, body: { text: ['Hello'], ...body } });

  test.each(FRONTS)('over $name a listed pair is translated, and another is a 400 that names the offered ones', async (front) => {
    const send = (key: string, target: string): Promise<HttpResponse> =>
      request({ port: setting.gateway.port, ...front.translation(key, ['Hello'], target) });
    expect((await send(team.key, 'de')).status).toBe(200);
    expect(setting.engine.requests).toHaveLength(1);
    const refused = await send(team.key, 'fr');
    expect(refused.status).toBe(400);
    expect(refused.body).toMatch(
      /target_lang.*\bDE\b|French \(fr\) is not available as a target language from English \(en\); offered: de|to: fr is not offered for texts in en; offered: de|target(?:LanguageCode)? fr is not offered from en; offered: de/,
    );
    expect(setting.engine.requests).toHaveLength(1);
    // After the admission: a revoked key is reported first, and the request has taken its slot of the window.
    const [once, answers] = await withinASecond(async () => {
      const slow = await setting.gateway.team({ ...QUOTA_PLAN, requests_per_second: 1, characters: 1 });
      return [slow, await Promise.all([send(slow.key, 'fr'), send(slow.key, 'fr')])] as const;
    });
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([400, 429]);
    const revoked = await setting.gateway.team();
    answered(await setting.gateway.store.teams.revokeKey(revoked.keyId));
    expect((await send(revoked.key, 'fr')).status).toBe(front.statuses.key_revoked);
    expect(await setting.gateway.store.teams.standing(once.teamId)).toMatchObject({ usedCharacters: 0, openReservations: 0 });
    expect(setting.engine.requests).toHaveLength(1);
  });

  test('a base listed as a target means its variants, and a variant only itself', async () => {
    for (const target_lang of ['EN-GB', 'en-us']) expect((await v1({ source_lang: 'es', target_lang })).status).toBe(200);
    expect((await v1({ source_lang: 'DE', target_lang: 'PT-BR' })).status).toBe(200);
    expect((await v1({ source_lang: 'DE', target_lang: 'PT-PT' })).json()).toMatchObject({
      status: 400,
      code: 'validation_error',
      detail: 'target_lang: PT-PT is not offered for texts in DE; offered: PT-BR.',
    });
  });

  test('without a source, the target must be a target of some source', async () => {
    expect((await v1({ target_lang: 'EN-GB' })).status).toBe(200);
    expect((await v1({ target_lang: 'FR' })).json()).toMatchObject({
      code: 'validation_error',
      detail: 'target_lang: FR is not offered; offered: DE, EN-GB, EN-US, PT-BR.',
    });
  });

  test('the check follows the rules on both languages, and precedes all others', async () => {
    expect((await v1({ source_lang: 'EN', target_lang: 'XX' })).json()).toMatchObject({ code: 'invalid_target_lang' });
    expect((await v1({ source_lang: 'XX', target_lang: 'FR' })).json()).toMatchObject({ code: 'invalid_source_lang' });
    expect((await v1({ source_lang: 'EN', target_lang: 'FR', formality: 'rude' })).json()).toMatchObject({
      detail: expect.stringContaining('target_lang: ') as string,
    });
    expect((await v1({ text: ['x'.repeat(2000)], source_lang: 'EN', target_lang: 'FR' })).json()).toMatchObject({ code: 'text_too_long' });
  });

  test('the lists of every front show what is offered', async () => {
    for (const version of ['/v1', '/v2']) {
      expect(codesOf(await get(`${version}/languages`))).toEqual(['DE', 'EN', 'ES']);
      expect(codesOf(await get(`${version}/languages?type=target`))).toEqual(['DE', 'EN-GB', 'EN-US', 'PT-BR']);
    }
    expect((await get('/v2/glossary-language-pairs')).json()).toEqual({
      supported_languages: [
        { source_lang: 'de', target_lang: 'pt' },
        { source_lang: 'en', target_lang: 'de' },
        { source_lang: 'es', target_lang: 'en' },
      ],
    });
    // One list for both menus: what is only a target has no targets, and `en` as a target means en-GB here.
    const list = (await get('/languages')).json() as { code: string; targets: string[] }[];
    expect(Object.fromEntries(list.map(({ code, targets }) => [code, targets]))).toEqual({
      de: ['pt-BR'],
      en: ['de'],
      es: ['en', 'en-GB', 'en-US'],
      'en-GB': ['de'],
      'en-US': ['de'],
      'pt-BR': [],
    });
    expect((await get('/frontend/settings')).json()).toMatchObject({ language: { source: { code: 'auto' }, target: { code: 'en' } } });
  });

  test('DeepLX’s request shape is refused alike', async () => {
    const deepLX = (target_lang: string): Promise<HttpResponse> =>
      ask(setting, { method: 'POST', path: '/translate', key: team.key, body: { text: 'Hello', source_lang: 'ES', target_lang } });
    expect((await deepLX('EN')).status).toBe(200);
    const refused = await deepLX('DE');
    expect([refused.status, refused.json()]).toEqual([
      400,
      { error: 'German (de) is not available as a target language from Spanish (es); offered: en-GB, en-US' },
    ]);
  });
});

describe('an engine without a variant of a source', () => {
  onOneGateway({ config: { ...LISTED, engine: { ...LISTED.engine, pairs: ['DE-EN', 'PT-DE'] } } }, (setting) => {
    const team = oneTeam(setting);
    const get = async (path: string): Promise<unknown> => (await ask(setting, { path, key: team.key })).json();

    test('LibreTranslate lists it as a source, as its base, and a bare code that means an offered variant', async () => {
      const list = (await get('/languages')) as { code: string; targets: string[] }[];
      expect(Object.fromEntries(list.map(({ code, targets }) => [code, targets]))).toEqual({
        de: ['en', 'en-GB', 'en-US'],
        en: [],
        pt: ['de'],
        'en-GB': [],
        'en-US': [],
        'pt-BR': ['de'],
        'pt-PT': ['de'],
      });
    });

    test('Google lists what is offered under its own code alone', async () => {
      const { data } = (await get('/language/translate/v2/languages')) as { data: { languages: { language: string }[] } };
      expect(data.languages.map(({ language }) => language)).toEqual(['de', 'en-GB', 'en-US', 'pt']);
      const { languages } = (await get('/v3/projects/any/supportedLanguages')) as { languages: object[] };
      expect(languages).toEqual([
        { languageCode: 'de', supportSource: true, supportTarget: true },
        { languageCode: 'en-GB', supportSource: false, supportTarget: true },
        { languageCode: 'en-US', supportSource: false, supportTarget: true },
        { languageCode: 'pt', supportSource: true, supportTarget: false },
      ]);
    });
  });
});

describe('an engine that reports its pairs, behind two workers', () => {
  const workers = 2;
  let site: Site;
  /** What it reports; if undefined, nothing: its pairs stay unknown. */
  let answer: string | undefined;
  const config = (more: object = {}): object => ({
    engine: { protocol: 'libretranslate', urls: [site.engine.url], timeout_ms: 20_000, ...more },
  });

  beforeAll(async () => {
    site = await openSite();
    site.engine.always((asked, response) => {
      if (asked.path !== '/languages') response.end('{"translatedText":"Hola","detectedLanguage":{"language":"en"}}');
      else if (answer !== undefined) response.end(answer);
    });
  });
  afterAll(() => site.close());

  const tells = (...pairs: readonly (readonly [code: string, ...targets: string[]])[]): string =>
    JSON.stringify(pairs.map(([code, ...targets]) => ({ code, name: code, targets })));

  /** From several requests: one may reach only one worker. */
  async function targetsOf(port: number): Promise<string[]> {
    const headers = { Authorization: `Bearer ${site.team.key}` };
    const looks = await Promise.all(
      Array.from({ length: 10 }, async () => codesOf(await request({ port, path: '/v1/languages?type=target', headers })).join(' ')),
    );
    return [...new Set(looks)];
  }

  test('delays neither start nor requests, is queried again on SIGHUP, and its last valid report is kept if it returns nonsense', async () => {
    answer = undefined;
    await site.configure(config() as Record<string, unknown>);
    const gateway = await site.serve('--workers', String(workers));
    const { port } = gateway;
    const hangup = async (): Promise<void> => {
      const before = logged(gateway, 'configuration reloaded').length;
      gateway.process.kill('SIGHUP');
      await expect.poll(() => logged(gateway, 'configuration reloaded').length).toBeGreaterThan(before);
    };
    // Its pairs are unknown: everything is allowed.
    expect((await translate(port, site.team.key, { target: 'JA' })).status).toBe(200);
    expect((await targetsOf(port))[0]!.split(' ')).toHaveLength(38);
    answer = tells(['en', 'es'], ['es', 'en']);
    const other = await startScriptedEngine();
    other.always((asked, response) => response.end(asked.path === '/languages' ? answer : '{"translatedText":"Hola"}'));
    await site.configure(config({ urls: [other.url] }) as Record<string, unknown>);
    await hangup();
    await expect.poll(() => targetsOf(port)).toEqual(['EN-GB EN-US ES']);
    // The requests may all have reached one worker.
    const changes = (): number => logged(gateway, 'the pairs that the engine offers have changed').length;
    await expect.poll(changes).toBe(workers);
    expect((await translate(port, site.team.key, { target: 'JA' })).json()).toMatchObject({ code: 'validation_error' });
    const asked = (): number => other.requests.filter(({ path }) => path === '/languages').length;
    expect(asked()).toBe(workers);
    answer = '[{"code":"en"}]';
    await hangup();
    // On a slow machine they are queried again meanwhile.
    const retained = (): number => logged(gateway, 'an engine replica did not report its pairs: the known ones stay in use').length;
    await expect.poll(retained).toBeGreaterThanOrEqual(workers);
    expect(await targetsOf(port)).toEqual(['EN-GB EN-US ES']);
    answer = tells(['en', 'fr']);
    await hangup();
    await expect.poll(() => targetsOf(port)).toEqual(['FR']);
    // The configuration can list them instead.
    await site.configure(config({ urls: [other.url], pairs: ['EN-DE'] }) as Record<string, unknown>);
    await hangup();
    await expect.poll(() => targetsOf(port)).toEqual(['DE']);
    expect(await gateway.end('SIGTERM')).toBe(0);
    await other.close();
  });
});
