// The document is valid OpenAPI 3.1 and passes Redocly's strict rules, whatever the configuration.
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { NO_PLUGINS } from '../../../src/config/plugins.ts';
import { openApiDocument } from '../../../src/docs/openapi-document.ts';
import type { OpenApiOptions } from '../../../src/docs/openapi-document.ts';
import { referencePage } from '../../../src/docs/reference-page.ts';
import { findings } from './documented.ts';
import type { TestGateway } from '../../support/gateway.ts';
import { startedUntil } from '../../support/started.ts';
import { ROUTES } from '../../../config/examples/small-api.ts';

const OPTIONS: OpenApiOptions = {
  serviceName: 'acme',
  serverUrl: 'https://0.0.0.0:8443',
  docsUrl: 'https://docs.acme.test/lingate',
  sourceLanguages: ['DE', 'EN', 'ES', 'FR'],
  targetLanguages: ['DE', 'EN-GB', 'FR'],
  vendorNames: [],
  rateLimitHeaders: true,
  hasDocuments: true,
  pluginApis: NO_PLUGINS,
};

describe('the OpenAPI document', () => {
  const started = startedUntil(afterAll);
  let gateway: TestGateway;

  beforeAll(async () => {
    gateway = await started.gateway({ engineUrls: ['http://127.0.0.1:1'] });
  });

  test('of a running gateway passes the linter', async () => {
    const response = await fetch(`${gateway.opsUrl}/openapi.json`);
    expect(response.headers.get('content-type')).toBe('application/json');
    expect(await findings(await response.text())).toEqual([]);
  });

  test('is valid with plugins’ routes too, most of which have no documentation', async () => {
    const pluginRoutes = ROUTES.map((route) => ({ ...route, plugin: 'small-api' }));
    const pluginApis = { routes: pluginRoutes, documents: new Map(), problems: new Map() };
    const source = JSON.stringify(openApiDocument({ ...OPTIONS, pluginApis }));
    const config = await createConfig({ extends: ['minimal'] });
    const found = await lintFromString({ source, config, absoluteRef: 'openapi.json' });
    expect(found.filter(({ severity }) => severity === 'error').map(({ message }) => message)).toEqual([]);
    expect(source).toContain('/small/glossaries/{id}');
    const { paths } = JSON.parse(source) as { paths: Record<string, Record<string, unknown>> };
    expect(paths['/small/translate']!['post']).toMatchObject({
      requestBody: { content: { 'application/json': { examples: { example: { value: { q: 'Hello', target: 'de' } } } } } },
    });
  });

  test.each(['among ours', 'in a document of its own'])(
    'a route %s has an entry on the page, although its author left the description out, as plain JavaScript lets them',
    (where) => {
      const doc = { summary: 'Says <hello>', authenticated: false, answer: { status: 204, description: 'Said.' } } as never;
      const route = { plugin: 'plain', method: 'GET', path: '/plain', takesBody: false, steps: ['access-log', 'hello'], doc };
      const document = { title: 'Plain', version: '1', summary: 'Hello.', description: '' };
      const documents = new Map(where === 'among ours' ? [] : [['plain', document]]);
      const [page] = referencePage({ ...OPTIONS, pluginApis: { routes: [route], documents, problems: new Map() } }).split('<script>');
      expect(page).toContain('<a href="#plainGetPlain">Says &lt;hello&gt;</a>');
      expect(page).not.toContain('undefined');
    },
  );

  test('the linter finds a planted fault', async () => {
    const document = openApiDocument(OPTIONS) as unknown as {
      paths: Record<string, { get: { operationId?: string; responses: Record<string, unknown> } }>;
    };
    delete document.paths['/health']!.get.operationId;
    document.paths['/health']!.get.responses['200'] = { description: 'Without its fields.' };
    const found = await findings(JSON.stringify(document));
    expect(found.some((finding) => finding.startsWith('operation-operationId'))).toBe(true);
    expect(found.some((finding) => finding.startsWith('response-contains-header'))).toBe(true);
  });

  test('names an address that callers can use', () => {
    expect(openApiDocument(OPTIONS)['servers']).toMatchObject([{ url: 'https://127.0.0.1:8443' }]);
  });
});
