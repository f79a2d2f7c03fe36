// The OpenAPI documents of our facades pass the linter, and the routes answer the documents' own examples as documented.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Documented, findings } from '../docs/documented.ts';
import type { OpenApi } from '../docs/documented.ts';
import type { TestGateway } from '../../support/gateway.ts';
import { startedUntil } from '../../support/started.ts';

interface Facade {
  readonly plugin: string;
  readonly paths: readonly string[];
  /** Rules of the linter that do not apply to its API. */
  readonly without: readonly string[];
  /** Any value of a path's parameters is accepted; otherwise they are ids of what does not exist. */
  readonly anyPath?: true;
}

const FACADES: readonly Facade[] = [
  {
    plugin: 'libretranslate',
    paths: ['/translate', '/detect', '/languages', '/frontend/settings', '/spec'],
    // This API's failures are an object with `error`.
    without: ['operation-4xx-problem-details-rfc7807'],
  },
  {
    plugin: 'deepl-v2',
    paths: [
      '/v2/translate',
      '/v2/languages',
      '/v3/languages',
      '/v3/languages/resources',
      '/v2/usage',
      '/v2/admin/analytics/custom-tags',
      '/v2/glossaries',
      '/v2/glossaries/{id}',
      '/v3/glossaries',
      '/v3/glossaries/{id}',
      '/v2/glossaries/{id}/entries',
      '/v2/glossary-language-pairs',
      '/v3/glossaries/{id}/entries',
      '/v3/glossaries/{id}/dictionaries',
    ],
    without: [],
  },
  {
    plugin: 'azure-v3',
    paths: ['/translate', '/detect', '/languages'],
    without: ['operation-4xx-problem-details-rfc7807', 'paths-kebab-case'],
  },
  {
    plugin: 'google-v3',
    paths: [':translateText', ':detectLanguage', '/supportedLanguages'].flatMap((one) =>
      ['', '/locations/{location}'].map((location) => `/v3/projects/{project}${location}${one}`),
    ),
    without: ['operation-4xx-problem-details-rfc7807', 'paths-kebab-case'],
    anyPath: true,
  },
  {
    plugin: 'google-v2',
    paths: ['/language/translate/v2', '/language/translate/v2/detect', '/language/translate/v2/languages'],
    without: ['operation-4xx-problem-details-rfc7807'],
  },
];

/** All but one can be used together: Azure's and LibreTranslate's have the same paths. */
const started = startedUntil(afterAll);
let running: Readonly<Record<'azure' | 'others', TestGateway>>;

beforeAll(async () => {
  const engineUrls = [(await started.engine()).url];
  const withPlugins = (...names: readonly string[]) =>
    started.gateway({ engineUrls, config: { plugins: names.map((name) => ({ module: `lingate/plugins/${name}` })) } });
  const others = FACADES.map(({ plugin }) => plugin).filter((plugin) => plugin !== 'azure-v3');
  running = { azure: await withPlugins('azure-v3'), others: await withPlugins(...others) };
});

describe.each(FACADES)('$plugin', ({ plugin, paths, without, anyPath }) => {
  let gateway: TestGateway;
  let source: string;
  let documented: Documented;

  beforeAll(async () => {
    gateway = running[plugin === 'azure-v3' ? 'azure' : 'others'];
    source = await (await fetch(`${gateway.opsUrl}/openapi/${plugin}.json`)).text();
    documented = new Documented(JSON.parse(source) as OpenApi);
  });

  test('describes its routes and passes the linter', async () => {
    expect(Object.keys(documented.document.paths)).toEqual(paths);
    expect(await findings(source, without)).toEqual([]);
  });

  test('every example request is answered as documented, and so are failures', async () => {
    const { key } = await gateway.team();
    for (const route of documented.routes) {
      const [method = '', path = ''] = route.split(' ');
      const examples = documented.operation(route).requestBody?.content['application/json'].examples ?? { none: { value: undefined } };
      const send = (headers: Readonly<Record<string, string>>, name: string, body: unknown) =>
        fetch(gateway.url + path + queryFor(documented.operation(route), name), {
          method,
          headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
          ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        });
      for (const [name, { value }] of Object.entries(examples)) {
        const response = await send({ authorization: `Bearer ${key}` }, name, value);
        // An id in the path does not exist, so the failure is checked against the document, too.
        expect([route, response.ok]).toEqual([route, anyPath === true || !path.includes('{')]);
        expect([route, await documented.faults(route, response)]).toEqual([route, []]);
      }
      const needsKey = documented.operation(route).security === undefined;
      const [[name, { value }]] = Object.entries(examples) as [[string, { value: unknown }]];
      const stranger = await send({}, name, value);
      expect([route, stranger.ok]).toEqual([route, !needsKey]);
      expect([route, await documented.faults(route, stranger)]).toEqual([route, []]);
    }
  });
});

/** The query of an example of the body, with its question mark: what is required, and what belongs to the example by its name. */
function queryFor({ parameters = [] }: ReturnType<Documented['operation']>, name: string): string {
  const pairs = parameters.flatMap((one): [string, string][] => {
    const value = one.examples?.[name]?.value ?? (one.required ? (one.example ?? Object.values(one.examples ?? {})[0]?.value) : undefined);
    if (one.in !== 'query' || value === undefined) return [];
    // The example of a repeated parameter is a list.
    return [value as string | readonly string[]].flat().map((each) => [one.name, each]);
  });
  return pairs.length === 0 ? '' : `?${new URLSearchParams(pairs).toString()}`;
}

test('the document of deepl-v2 has the statuses and words of its API, and no document routes', async () => {
  const source = await (await fetch(`${running.others.opsUrl}/openapi/deepl-v2.json`)).text();
  const { paths } = JSON.parse(source) as OpenApi;
  expect(Object.keys(paths['/v2/translate']!['post']!.responses)).toEqual(
    expect.arrayContaining(['200', '400', '403', '404', '413', '429', '456', '500', '503']),
  );
  expect(Object.keys(paths)).not.toContain('/v2/document');
  expect(source).toContain('"message":"Quota exceeded"');
});
