// Scopes of keys: which route needs which, on every front; and that a scope that is taken away is gone at once on every gateway.
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import { routeName, ROUTES, SCOPES, withPlugins } from '../support/door/tables.ts';
import { answered } from '../../src/index.ts';
import { ask, expectProblem, onOneGateway } from '../support/every-gateway.ts';
import { FACADES } from '../support/fronts.ts';
import { QUOTA_PLAN } from '../support/gateway.ts';
import type { TestTeam } from '../support/gateway.ts';
import { startUpstream } from '../support/upstream.ts';

const upstream = await startUpstream();
afterAll(() => upstream.close());

const forward = [
  { path: '/v1/voices', methods: ['GET'], target: upstream.url, name: 'voices' },
  { path: '/v1/documents/*', methods: ['GET'], target: upstream.url },
];

const ID = '01KA6Q4T1V8E5S0H6N3B7W2XJD';

test('every route that needs a key names its scope', () => {
  const needed = ROUTES.map((route) => [routeName(route), route.scope]);
  expect(Object.fromEntries(needed)).toEqual({
    'GET /health': undefined,
    'POST /v1/translate': 'translate:text',
    'GET /v1/languages': 'languages:read',
    'GET /v1/usage': 'usage:read',
    'POST /v1/glossaries': 'glossaries:write',
    'GET /v1/glossaries': 'glossaries:read',
    'GET /v1/glossaries/{id}': 'glossaries:read',
    'DELETE /v1/glossaries/{id}': 'glossaries:write',
    'GET /v1/glossaries/{id}/entries': 'glossaries:read',
  });
});

onOneGateway({ config: { forward, plugins: FACADES } }, (setting) => {
  const keyWith = async (scopes: readonly string[] | null): Promise<TestTeam> => {
    const team = await setting.gateway.team({ ...QUOTA_PLAN, requests_per_second: 1000 });
    answered(await setting.gateway.store.teams.updateKey(team.keyId, { limits: { scopes } }));
    return team;
  };
  const status = async (key: string, method: string, path: string, body?: unknown): Promise<number> =>
    (await ask(setting, { method, path, key, ...(body === undefined ? {} : { body }) })).status;

  test.each([
    ['GET', '/v1/languages', 'languages:read', undefined],
    ['GET', '/v1/usage', 'usage:read', undefined],
    ['GET', '/v1/glossaries', 'glossaries:read', undefined],
    ['GET', `/v1/glossaries/${ID}`, 'glossaries:read', undefined],
    ['DELETE', `/v1/glossaries/${ID}`, 'glossaries:write', undefined],
    ['POST', '/v1/translate', 'translate:text', { text: ['a'], target_lang: 'DE' }],
    ['GET', '/v1/voices', 'forward:voices', undefined],
    ['GET', '/v2/languages', 'languages:read', undefined],
    ['GET', '/v2/usage', 'usage:read', undefined],
    ['GET', '/v2/glossaries', 'glossaries:read', undefined],
    ['GET', '/v2/glossary-language-pairs', 'glossaries:read', undefined],
    ['DELETE', `/v2/glossaries/${ID}`, 'glossaries:write', undefined],
    ['POST', '/v2/document/a', 'translate:document', { document_key: 'a' }],
    ['POST', '/v2/document/a/result', 'translate:document', { document_key: 'a' }],
    ['GET', '/v3/languages/resources', 'languages:read', undefined],
    ['GET', '/language/translate/v2/languages', 'languages:read', undefined],
    ['POST', '/language/translate/v2/detect', 'translate:text', { q: 'a' }],
    ['GET', '/v3/projects/p/supportedLanguages', 'languages:read', undefined],
  ] as const)('%s %s needs %s', async (method, path, scope, body) => {
    const [only, others] = await Promise.all([
      keyWith([scope]),
      keyWith([...SCOPES, 'forward:voices', 'forward:other'].filter((one) => one !== scope)),
    ]);
    const allowed = await status(only.key, method, path, body);
    // Once the store has asked for the scope, it is sent along.
    for (let i = 0; i < 2; i++) expect(await status(others.key, method, path, body)).toBe(403);
    expect([200, 400, 404]).toContain(allowed);
  });

  test('a route that no scope opens is closed to keys with scopes, and says that none is missing', async () => {
    const all = await keyWith([...SCOPES, 'forward:voices']);
    const before = upstream.seen.length;
    const response = await ask(setting, { path: '/v1/documents/a', key: all.key });
    expectProblem(response, 'forbidden', { missing_scopes: [] });
    expect(upstream.seen.length).toBe(before);
    expect((await ask(setting, { path: '/v2/write/rephrase', method: 'POST', key: all.key })).status).toBe(403);
    const free = await keyWith(null);
    expect((await ask(setting, { path: '/v1/documents/a', key: free.key })).status).toBe(200);
  });

  test('a long body is not read for a key that may not translate', async () => {
    const { key } = await keyWith(['usage:read']);
    const body = `${' '.repeat(40_000)}{"text":["Hello"],"target_lang":"DE"}`;
    for (let i = 0; i < 2; i++) {
      const response = await ask(setting, { method: 'POST', path: '/v1/translate', key, body });
      expectProblem(response, 'forbidden', { missing_scopes: ['translate:text'] });
    }
  });
});

test('every route of the shipped plugins that takes a key names a scope, or only refuses', async () => {
  const entries = FACADES.map(({ module, options }) => ({ module, from: fileURLToPath(import.meta.url), options: options ?? {} }));
  await withPlugins(entries, ({ routes }) => {
    const keyed = routes.filter(({ steps }) => steps.includes('admit'));
    expect(keyed.length).toBeGreaterThan(30);
    expect(keyed.filter(({ scope, doc }) => scope === undefined && doc !== undefined)).toEqual([]);
  });
});
