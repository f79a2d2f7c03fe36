// While no operator has a token, the console's and the admin API's paths are a 404 that says what to configure.
import { expect, test } from 'vitest';
import { assetPath } from '../../../src/console/assets.ts';
import { appsWhileOff } from '../../../src/console/console-off.ts';
import type { OpsAnswer } from '../../../src/ops/ops-request.ts';

const apps = appsWhileOff(() => 'lingate');

async function ask(path: string, accept = 'text/html'): Promise<OpsAnswer> {
  const app = apps.find(({ prefix }) => path === prefix || path.startsWith(`${prefix}/`))!;
  return app.handle({ method: 'GET', path, query: new URLSearchParams(), headers: { accept }, body: Buffer.alloc(0), remoteAddress: '' });
}

const SETTING = 'admin: { token: { env: LINGATE_ADMIN_TOKEN } }';

test.each([
  ['/console', 'text/html', 'text/html; charset=utf-8'],
  ['/console/teams', 'text/html', 'text/html; charset=utf-8'],
  ['/console', '*/*', 'text/plain; charset=utf-8'],
  ['/admin/v1/teams', 'text/html', 'text/plain; charset=utf-8'],
])('%s for %s', async (path, accept, contentType) => {
  const answer = await ask(path, accept);
  expect(answer).toMatchObject({ status: 404, contentType });
  expect(String(answer.body)).toContain(SETTING);
  expect(String(answer.body)).toContain('at least 32 characters');
});

test('the page has its styles, and neither navigation nor forms', async () => {
  const page = String((await ask('/console')).body);
  expect(page).toContain(`<link rel="stylesheet" href="/console${assetPath('console.css')}" />`);
  expect(page).not.toMatch(/<nav|<form|<script/);
  expect(await ask(`/console${assetPath('console.css')}`)).toMatchObject({ status: 200, contentType: 'text/css; charset=utf-8' });
});
