// GET /v3/languages of the DeepL API: what is offered, resource by resource, for what the engine can do.
import { describe, expect, test } from 'vitest';
import { ask, onOneGateway, oneTeam } from '../support/every-gateway.ts';

interface Language {
  readonly lang: string;
  readonly name: string;
  readonly usable_as_source: boolean;
  readonly usable_as_target: boolean;
  readonly status: string;
  readonly features: Readonly<Record<string, { readonly status: string }>>;
}

const PLUGINS = [{ module: 'lingate/plugins/deepl-v2' }];
const STABLE = { status: 'stable' };

describe('an engine that can do everything but style', () => {
  onOneGateway({ config: { plugins: PLUGINS } }, (setting) => {
    const team = oneTeam(setting);

    const get = (path: string, key: string | undefined = team.key) => ask(setting, { path, key });
    const list = async (query: string): Promise<readonly Language[]> =>
      (await get(`/v3/languages?resource=${query}`)).json() as readonly Language[];

    test('translate_text: sources and targets in one list, by BCP 47 codes, with their features', async () => {
      const languages = await list('translate_text');
      const named = new Map(languages.map((one) => [one.lang, one]));
      expect(named.get('de')).toEqual({
        lang: 'de',
        name: 'German',
        usable_as_source: true,
        usable_as_target: true,
        ...STABLE,
        features: { formality: STABLE, tag_handling: STABLE, glossary: STABLE, auto_detection: STABLE },
      });
      expect(named.get('en')).toMatchObject({ usable_as_source: true, usable_as_target: false, features: { auto_detection: STABLE } });
      expect(named.get('en-US')).toEqual({
        lang: 'en-US',
        name: 'English (American)',
        usable_as_source: false,
        usable_as_target: true,
        ...STABLE,
        features: { tag_handling: STABLE, glossary: STABLE },
      });
      expect(languages.map(({ lang }) => lang)).toEqual([...named.keys()].toSorted());
    });

    test('it has exactly the languages of /v2/languages, each of which translates under the code that is shown', async () => {
      const languages = await list('translate_text&include=beta&include=external');
      for (const [type, member] of [
        ['source', 'usable_as_source'],
        ['target', 'usable_as_target'],
      ] as const) {
        const old = (await get(`/v2/languages?type=${type}`)).json() as { language: string; supports_formality?: boolean }[];
        const usable = languages.filter((one) => one[member]);
        expect(usable.map(({ lang }) => lang.toUpperCase()).toSorted()).toEqual(old.map(({ language }) => language).toSorted());
        if (type === 'source') continue;
        const formal = new Set(old.filter((one) => one.supports_formality === true).map(({ language }) => language));
        expect(usable.filter(({ features }) => 'formality' in features).map(({ lang }) => lang.toUpperCase())).toEqual(
          [...formal].toSorted(),
        );
      }
      for (const { lang } of languages.filter((one) => one.usable_as_target).slice(0, 5)) {
        const body = { text: ['a'], target_lang: lang };
        expect((await ask(setting, { method: 'POST', path: '/v2/translate', key: team.key, body })).status).toBe(200);
      }
    });

    test('glossary: the base codes of the language pairs', async () => {
      const pairs = (await get('/v2/glossary-language-pairs')).json() as {
        supported_languages: { source_lang: string; target_lang: string }[];
      };
      const languages = await list('glossary');
      const of = (member: 'usable_as_source' | 'usable_as_target') => languages.filter((one) => one[member]).map(({ lang }) => lang);
      expect(of('usable_as_source')).toEqual([...new Set(pairs.supported_languages.map((one) => one.source_lang))].toSorted());
      expect(of('usable_as_target')).toEqual([...new Set(pairs.supported_languages.map((one) => one.target_lang))].toSorted());
      expect(new Set(languages.flatMap(({ features }) => Object.keys(features)))).toEqual(new Set());
    });

    test.each(['translate_document', 'voice', 'write', 'style_rules', 'translation_memory'])('%s is known and empty', async (resource) => {
      expect(await list(resource)).toEqual([]);
    });

    test('resources: those with languages, and what each side of a pair needs', async () => {
      expect((await get('/v3/languages/resources')).json()).toEqual([
        {
          name: 'translate_text',
          features: [
            { name: 'formality', needs_target_support: true },
            { name: 'tag_handling', needs_source_support: true, needs_target_support: true },
            { name: 'glossary', needs_source_support: true, needs_target_support: true },
            { name: 'auto_detection', needs_source_support: true },
          ],
        },
        { name: 'glossary', features: [] },
      ]);
    });

    test.each([
      '',
      '?resource=',
      '?resource=TRANSLATE_TEXT',
      '?resource=nothing',
      '?resource=write&resource=write',
      '?product=write',
      '?resource=write&include=all',
    ])('GET /v3/languages%s is a 400 that names the parameter', async (query) => {
      const response = await get(`/v3/languages${query}`);
      expect([response.status, response.json()]).toMatchObject([
        400,
        { code: 'validation_error', detail: expect.stringMatching(/'(?:resource|include)'/) as string },
      ]);
    });

    test('both need a key, and are read with GET only', async () => {
      for (const path of ['/v3/languages?resource=write', '/v3/languages/resources']) {
        for (const key of [undefined, 'wrong', `la_live_${'a'.repeat(40)}`]) {
          const headers: Record<string, string> = key === undefined ? {} : { authorization: `DeepL-Auth-Key ${key}` };
          expect((await ask(setting, { path, headers })).status).toBe(403);
        }
        expect((await ask(setting, { method: 'POST', path, key: team.key, body: {} })).status).toBe(405);
        const answer = await get(path);
        expect([answer.status, answer.header('x-trace-id')]).toEqual([200, answer.header('x-request-id')]);
      }
    });
  });
});

describe.each([
  [
    'takes style',
    { protocol: 'deepl', options: { api_key: 'k' } },
    [['formality', 'tag_handling', 'glossary', 'style_rules', 'translation_memory', 'auto_detection'], []],
    true,
  ],
  ['takes no glossaries', { protocol: 'libretranslate' }, [['tag_handling', 'auto_detection']], false],
])('an engine that %s', (_what, engine, features, hasGlossaries) => {
  const config = { engine, plugins: [{ ...PLUGINS[0], options: { style_rules: 'pass' } }] };
  onOneGateway({ config }, (setting) => {
    test('says so', async () => {
      const { key } = await setting.gateway.team();
      const resources = (await ask(setting, { path: '/v3/languages/resources', key })).json() as { features: { name: string }[] }[];
      expect(resources.map((resource) => resource.features.map(({ name }) => name))).toEqual(features);
      const listed = (await ask(setting, { path: '/v3/languages?resource=glossary', key })).json() as unknown[];
      expect(listed.length > 0).toBe(hasGlossaries);
    });
  });
});
