// Documentation for callers: its address, and, if configured, its pages on the public listener.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ask, onOneGateway } from '../../support/every-gateway.ts';
import { inProcess } from '../../support/lingate-command.ts';
import { openSite } from '../../support/site.ts';
import type { Site } from '../../support/site.ts';

const PAGES = ['/docs', '/docs/errors', '/openapi.json'] as const;
const PUBLIC_URL = 'https://api.acme.test/translate';

interface OpenApi {
  readonly servers: readonly { readonly url: string }[];
}

onOneGateway({ config: { docs: { public: true }, service: { public_url: `${PUBLIC_URL}/` } } }, (setting) => {
  test('anybody may read it, with GET only, with security headers', async () => {
    for (const path of PAGES) {
      const page = await ask(setting, { path });
      expect(page.status).toBe(200);
      expect(page.header('content-type')).toBe(path === '/openapi.json' ? 'application/json' : 'text/html; charset=utf-8');
      expect(page.header('content-security-policy')).toContain("default-src 'none'");
      expect(page.header('x-content-type-options')).toBe('nosniff');
      expect(page.header('referrer-policy')).toBe('no-referrer');
      // The same for everybody: it may be cached, and whoever has it gets no body again.
      expect(page.header('cache-control')).toBe('no-cache');
      expect((await ask(setting, { path, headers: { 'if-none-match': page.header('etag')! } })).status).toBe(304);
      expect(page.header('x-request-id')).toMatch(/^[0-9A-Z]{26}$/);
      const wrong = await ask(setting, { method: 'POST', path, body: '{}' });
      expect([wrong.status, wrong.header('allow')]).toEqual([405, 'GET']);
    }
  });

  test('it names the public address, and so does every problem', async () => {
    const { body } = await ask(setting, { path: '/openapi.json' });
    expect((JSON.parse(body) as OpenApi).servers.map(({ url }) => url)).toEqual([PUBLIC_URL]);
    const problem = JSON.parse((await ask(setting, { path: '/v1/usage' })).body) as { readonly type: string };
    expect(problem.type).toBe(`${PUBLIC_URL}/docs/errors#unauthorized`);
    expect((await ask(setting, { path: '/docs/errors' })).body).toContain('id="unauthorized"');
  });

  test('no other operator page is there', async () => {
    for (const path of ['/metrics', '/livez', '/readyz', '/console', '/admin/v1/teams', '/admin/openapi.json', '/docs/', '/docs/metrics']) {
      expect((await ask(setting, { path })).status).toBe(404);
    }
  });
});

describe('a gateway of its own', () => {
  let site: Site;

  beforeAll(async () => {
    site = await openSite();
    const plugin = `import { definePlugin, json } from 'lingate';
import Type from 'typebox';
export default definePlugin({
  name: 'taker',
  options: Type.Object({}),
  setup: () => ({
    routes: [{ method: 'GET', path: '/docs', takesBody: false, steps: ['access-log', 'taken'] }],
    routeSteps: () => [{ kind: 'head', name: 'taken', run: () => json('{}') }],
  }),
});`;
    await writeFile(join(site.folder, 'taker.mjs'), plugin);
  });

  afterAll(() => site.close());

  const configure = (more: Readonly<Record<string, unknown>>): Promise<void> =>
    site.configure({ engine: { urls: [site.engine.url] }, ...more });

  test('without it there are no such routes, and the command line lists those that exist', async () => {
    const routes = async (): Promise<string> => (await inProcess(['routes', '--config', join(site.folder, 'lingate.yaml')])).stdout;
    await configure({});
    expect(await routes()).not.toContain('/docs');
    await configure({ docs: { public: true }, service: { public_url: PUBLIC_URL } });
    for (const path of PAGES) expect(await routes()).toMatch(new RegExp(`GET ${path}\\s+access-log\\W+shed\\W+documentation`));
    const { stdout } = await inProcess(['openapi', '--config', join(site.folder, 'lingate.yaml')]);
    expect((JSON.parse(stdout) as OpenApi).servers[0]?.url).toBe(PUBLIC_URL);
  });

  test.each([
    ['a plugin', { plugins: [{ module: './taker.mjs' }] }, /route "GET \/docs" of plugin "taker": "GET \/docs" is the gateway's own/],
    ['a forward route', { forward: [{ path: '/docs/*', methods: ['GET'], target: 'http://127.0.0.1:1' }] }, /forward\.0\.path: .*\/docs/],
  ])('%s that has one of the paths is refused', async (_what, more, message) => {
    await configure({ docs: { public: true }, ...more });
    const checked = await inProcess(['config', 'check', '--config', join(site.folder, 'lingate.yaml')]);
    expect(checked.status).toBe(1);
    expect(checked.stderr).toMatch(message);
    await configure({ docs: { public: false }, ...more });
    expect((await inProcess(['config', 'check', '--config', join(site.folder, 'lingate.yaml')])).status).toBe(0);
  });
});
