// Every page of the console, light and dark, wide and on a phone: axe-core finds nothing, nothing is wider than the window, no errors.
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { limitsOf } from '../support/door/terms.ts';
import { CONSOLE_ROUTES } from '../support/door/tables.ts';
import { startScriptedEngine } from '../../src/testing.ts';
import { sampleDocuments } from './sample-documents.ts';
import { axeFindings } from '../support/axe.ts';
import { startBrowser } from '../support/browser.ts';
import type { Browser } from '../support/browser.ts';
import { ConsoleTab } from '../support/console-tab.ts';
import { ConsoleVisitor } from '../support/console-visitor.ts';
import type { Fields } from '../support/console-visitor.ts';
import { CREDIT_PLAN, QUOTA_PLAN, startGateway } from '../support/gateway.ts';
import type { TestGateway, TestTeam } from '../support/gateway.ts';
import type { ScriptedEngine } from '../../src/testing/scripted-engine.ts';
import { request } from '../support/raw-http.ts';
import type { Look } from '../support/tab.ts';

const TOKEN = randomBytes(24).toString('hex');
const READER = randomBytes(24).toString('hex');
const LIMITED_PLAN = {
  ...QUOTA_PLAN,
  limits: [
    { per: 'minute', requests: 600 },
    { per: 'day', requests: 20_000, characters: 1_000_000 },
  ],
} as const;
/** Their answers are not pages. */
const NO_PAGES = ['/overview.json', '/usage/csv', '/invoices/csv'];

/** Each page that is judged is also a picture in the folder that the variable names. */
const PICTURES = process.env['LINGATE_PICTURES'];

/** As long as a tag may be. */
const TAG = 'x'.repeat(100);

let browser: Browser;
let engine: ScriptedEngine;
let gateway: TestGateway;
let team: TestTeam;
/** Has a form for credit. */
let prepaid: TestTeam;
let glossaryId: string;
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'lingate-axe-'));
  engine = await startScriptedEngine();
  const admin = { token: TOKEN, tokens: [{ name: 'reader', token: READER, role: 'read' }] };
  const config = { admin, plans: { test: LIMITED_PLAN, other: QUOTA_PLAN, prepaid: CREDIT_PLAN } };
  gateway = await startGateway({ listener: 'node', store: `sqlite:${folder}/lingate.db`, engineUrls: [engine.url], config });
  team = await gateway.team(LIMITED_PLAN);
  const scopes = ['translate:text', 'glossaries:read', 'glossaries:write'];
  await gateway.store.teams.updateKey(team.keyId, { limits: { windows: 'requests=5/minute characters=1000/month', scopes } });
  const limits = { ...limitsOf(QUOTA_PLAN), requestsPerSecond: 7 };
  const { teamId } = await gateway.team();
  await gateway.store.teams.updateTeam(teamId, { plan: { name: 'test', limits } });
  prepaid = await gateway.team(CREDIT_PLAN, 5000);
  const deleted = await gateway.team();
  for (const { key } of [team, prepaid, deleted]) await send(key, '/v1/translate', { text: ['0123456789'], target_lang: 'DE' }, 200);
  await send(team.key, '/v1/translate', { text: ['0123456789'], target_lang: 'DE' }, 200, { 'lingate-tag': TAG });
  const glossary = { name: 'Terms', source_lang: 'EN', target_lang: 'DE', entries: { cat: 'Katze' } };
  glossaryId = (JSON.parse(await send(team.key, '/v1/glossaries', glossary, 201)) as { glossary_id: string }).glossary_id;
  await sampleDocuments(gateway.store, [team.teamId, prepaid.teamId], { atMs: Date.now() });
  // Each of these is an entry of the audit log.
  const operator = new ConsoleVisitor(gateway.opsPort);
  await operator.signIn(TOKEN);
  const change = async (path: string, action: string, fields: Fields): Promise<void> => {
    const [to, tag] = path.split('?tag=');
    const named = tag === undefined ? fields : { tag, ...fields };
    expect((await operator.submit(`/console/teams/${path}`, `/console/teams/${to}${action}`, named)).status).toBe(303);
  };
  await change(team.teamId, '/name', { name: 'Acme' });
  await change(team.teamId, '/keys', { mode: 'live', label: 'backend' });
  const windows = 'requests=60/minute\r\ncharacters=1000/month';
  await change(`${team.teamId}/tag?tag=${TAG}`, '', { requests_per_second: '5', characters: '100', limits: windows });
  await change(`${team.teamId}/tag?tag=closed`, '/disable', {});
  await change(prepaid.teamId, '/credit', { amount: '-5', reason: 'invoice 1042 was paid twice' });
  await change(`${deleted.teamId}/delete`, '', { name: 'Test', usage: 'keep' });
  browser = await startBrowser();
});

afterAll(async () => {
  await browser.close();
  await gateway.stop();
  await engine.close();
  await rm(folder, { recursive: true, force: true });
});

let pictures = 0;

/** In the order of the walk, as some pages are shown several times; ids and queries are left out. */
function pictureName(path: string, { scheme, width }: Look): `${string}.png` {
  const page = path
    .split('?')[0]!
    .split('/')
    .slice(1)
    .filter((part) => !/^[0-9A-Z]{26}$/.test(part))
    .join('-');
  return `${width}-${scheme}-${String(++pictures).padStart(3, '0')}-${page}.png`;
}

async function send(key: string, path: string, body: object, status: number, more: Fields = {}): Promise<string> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...more };
  const answer = await request({ port: gateway.port, method: 'POST', path, headers, body: JSON.stringify(body) });
  expect([path, answer.status]).toEqual([path, status]);
  return answer.body;
}

test('violations would be found', async () => {
  const tab = await browser.newTab();
  await tab.goto(`http://127.0.0.1:${gateway.opsPort}/console/sign-in`);
  await tab.read(`document.querySelector('label').remove(); document.querySelector('.hint').style.color = '#bbb'`);
  const found = (await axeFindings(tab)).map((line) => line.split(':', 1)[0]);
  expect(found).toEqual(expect.arrayContaining(['color-contrast', 'label']));
  await tab.close();
});

const LOOKS = (['light', 'dark'] as const).flatMap((scheme) => [360, 1280].map((width) => ({ scheme, width, height: 800 })));

describe.each(LOOKS)('in $scheme, $width pixels wide', (look) => {
  let operator: ConsoleTab;

  beforeEach(async () => {
    operator = await ConsoleTab.signedIn(browser, gateway.opsPort, TOKEN, look);
    return async () => {
      expect([operator.tab.complaints, operator.tab.requestsBeyond(operator.origin)]).toEqual([[], []]);
      await operator.tab.close();
    };
  });

  const expectAccessible = async (): Promise<void> => {
    const { tab } = operator;
    const where = await operator.path();
    if (PICTURES !== undefined) await tab.page.screenshot({ path: `${PICTURES}/${pictureName(where, look)}`, fullPage: true });
    const wide = await tab.read<number>('document.documentElement.scrollWidth - document.documentElement.clientWidth');
    expect([where, wide, await axeFindings(tab)]).toEqual([where, 0, []]);
  };
  const pages = (looksOnly: boolean): string[] =>
    CONSOLE_ROUTES.flatMap((route) => {
      if (route.method !== 'GET' || route.access !== 'signed-in' || NO_PAGES.includes(route.path)) return [];
      if (looksOnly && route.changes) return [];
      const values: Fields = { id: team.teamId, key: team.keyId, glossary: glossaryId, name: 'test' };
      return [`/console${route.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => values[name]!)}`];
    });

  test('every page of full operators', async () => {
    expect(pages(false).length).toBeGreaterThan(12);
    const more = [
      `/console/teams/${prepaid.teamId}`,
      `/console/audit?team=${team.teamId}`,
      `/console/documents?team=${team.teamId}`,
      '/console/usage?month=2020-02',
    ];
    const tags = [TAG, 'closed', 'never-seen'].map((tag) => `/console/teams/${team.teamId}/tag?tag=${tag}`);
    for (const path of [...pages(false), ...more, ...tags]) {
      expect([path, await operator.open(path)]).toEqual([path, 200]);
      await expectAccessible();
    }
  });

  test('every page of read-only operators, who have fewer', async () => {
    await operator.press('Sign out');
    await operator.fill('Token', READER);
    await operator.press('Sign in');
    expect(pages(true).length).toBeLessThan(pages(false).length);
    for (const path of pages(true)) {
      expect([path, await operator.open(path)]).toEqual([path, 200]);
      await expectAccessible();
    }
  });

  test('the overview with its table open', async () => {
    await operator.open('/console');
    await operator.tab.page.click('#minutes summary');
    await expectAccessible();
  });

  test('error pages, and the sign-in', async () => {
    await operator.open('/console/teams?q=nobody-is-called-so');
    await expectAccessible();
    await operator.open(`/console/teams/${team.teamId}`);
    // The browser would not send such a form.
    await operator.tab.read(`document.querySelector('form[action$="/name"]').noValidate = true`);
    await operator.fill('Name', '  ');
    await operator.press('Rename');
    await expectAccessible();
    await operator.open(`/console/teams/${team.teamId}/delete`);
    await operator.fill('Name of the team', 'Another');
    await operator.press('Delete the team');
    await expectAccessible();
    await operator.open(`/console/teams/${team.teamId}/keys/${team.keyId}`);
    await operator.fill('Expires at', 'tomorrow');
    await operator.fill('Characters per period', 'many');
    await operator.press('Save');
    expect(await operator.text()).toContain('is not an RFC 3339 time with a time zone');
    await expectAccessible();
    await operator.open(`/console/teams/${team.teamId}/tags`);
    await operator.fill('Tag', 'two words');
    await operator.press('Show');
    expect(await operator.text()).toContain('A tag must be 1 to 100 printable ASCII characters without spaces, and no API key.');
    await expectAccessible();
    await operator.open(`/console/teams/${team.teamId}/tag?tag=${TAG}`);
    await operator.fill('Characters per period', 'many');
    await operator.fill('Requests per second', 'many');
    await operator.press('Save');
    await expectAccessible();
    await operator.open(`/console/teams/${prepaid.teamId}`);
    await operator.fill('Amount in EUR', '-1');
    await operator.press('Change the credit');
    await expectAccessible();
    await operator.press('Sign out');
    await expectAccessible();
    await operator.fill('Token', 'not the token of the configuration at all');
    await operator.press('Sign in');
    await expectAccessible();
    // The browser itself logs such statuses.
    expect(operator.tab.complaints.every((line) => /status of 40[01] /.test(line))).toBe(true);
    operator.tab.complaints.length = 0;
  });

  test('a page that does not exist', async () => {
    expect(await operator.open('/console/nowhere')).toBe(404);
    await expectAccessible();
    operator.tab.complaints.length = 0;
  });
});
