// Every page of the console, light and dark, wide and on a phone: axe-core finds nothing, nothing is wider than the window, nobody complains.
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { limitsOf } from '../../../src/domain/plan.ts';
import { CONSOLE_ROUTES } from '../../../src/console/console-routes.ts';
import { axeFindings } from '../../support/axe.ts';
import { startBrowser } from '../../support/browser.ts';
import type { Browser } from '../../support/browser.ts';
import { ConsoleTab } from '../../support/console-tab.ts';
import { QUOTA_PLAN, startGateway } from '../../support/gateway.ts';
import type { TestGateway, TestTeam } from '../../support/gateway.ts';
import { startScriptedEngine } from '../../../src/testing/scripted-engine.ts';
import type { ScriptedEngine } from '../../../src/testing/scripted-engine.ts';
import { request } from '../../support/raw-http.ts';

vi.setConfig({ testTimeout: 60_000 });

const TOKEN = randomBytes(24).toString('hex');
/** Their answers are no pages. */
const NO_PAGES = ['/overview.json', '/usage/csv'];

let browser: Browser;
let engine: ScriptedEngine;
let gateway: TestGateway;
let team: TestTeam;
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'lingate-axe-'));
  engine = await startScriptedEngine();
  const config = { admin: { token: TOKEN }, plans: { test: QUOTA_PLAN, other: QUOTA_PLAN } };
  gateway = await startGateway({ listener: 'node', store: `sqlite:${folder}/lingate.db`, engineUrls: [engine.url], config });
  team = await gateway.team();
  const limits = { ...limitsOf(QUOTA_PLAN), requestsPerSecond: 7 };
  const { teamId } = await gateway.team();
  await gateway.store.teams.updateTeam(teamId, { plan: { name: 'test', limits } });
  const headers = { authorization: `Bearer ${team.key}`, 'content-type': 'application/json' };
  const body = JSON.stringify({ text: ['0123456789'], target_lang: 'DE' });
  expect((await request({ port: gateway.port, method: 'POST', path: '/v1/translate', headers, body })).status).toBe(200);
  browser = await startBrowser();
});

afterAll(async () => {
  await browser.close();
  await gateway.stop();
  await engine.close();
  await rm(folder, { recursive: true, force: true });
});

test('what is wrong would be found', async () => {
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

  const expectSound = async (): Promise<void> => {
    const { tab } = operator;
    const where = await operator.path();
    const wide = await tab.read<number>('document.documentElement.scrollWidth - document.documentElement.clientWidth');
    expect([where, wide, await axeFindings(tab)]).toEqual([where, 0, []]);
  };
  const pages = (): string[] =>
    CONSOLE_ROUTES.filter(({ method, access, path }) => method === 'GET' && access === 'signed-in' && !NO_PAGES.includes(path)).map(
      ({ path }) => `/console${path.replace('{id}', team.teamId).replace('{key}', team.keyId).replace('{name}', 'test')}`,
    );

  test('every page of those who are signed in', async () => {
    expect(pages().length).toBeGreaterThan(6);
    for (const path of pages()) {
      expect([path, await operator.open(path)]).toEqual([path, 200]);
      // With its charts, where there are some.
      await operator.tab.page.waitForFunction(
        `document.querySelector('#charts') === null || document.querySelectorAll('#charts canvas').length === 5`,
      );
      await expectSound();
    }
  });

  test('the overview with its table open', async () => {
    await operator.open('/console');
    await operator.tab.page.waitForSelector('[data-chart="in-flight"] canvas');
    await operator.tab.page.click('#minutes summary');
    await expectSound();
  });

  test('pages that say what is wrong, and the sign-in', async () => {
    await operator.open('/console/teams?q=nobody-is-called-so');
    await expectSound();
    await operator.open(`/console/teams/${team.teamId}`);
    // The browser would keep such a form back.
    await operator.tab.read(`document.querySelector('form[action$="/name"]').noValidate = true`);
    await operator.fill('Name', '  ');
    await operator.press('Rename');
    await expectSound();
    await operator.press('Sign out');
    await expectSound();
    await operator.fill('Token', 'not the token of the configuration at all');
    await operator.press('Sign in');
    await expectSound();
    // Statuses that say so are lines of the browser's own.
    expect(operator.tab.complaints.every((line) => /status of 40[01] /.test(line))).toBe(true);
    operator.tab.complaints.length = 0;
  });

  test('a page that is not there', async () => {
    expect(await operator.open('/console/nowhere')).toBe(404);
    await expectSound();
    operator.tab.complaints.length = 0;
  });
});
