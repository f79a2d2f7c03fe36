// The console's overview in a browser: it shows a translation, and failures, without reloading, with and without scripts.
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { axeFindings } from '../../support/axe.ts';
import { startBrowser } from '../../support/browser.ts';
import type { Browser } from '../../support/browser.ts';
import { ConsoleTab } from '../../support/console-tab.ts';
import { ask, onOneGateway } from '../../support/every-gateway.ts';
import type { Tab } from '../../support/tab.ts';
import type { GatewayProcess } from '../../support/gateway-process.ts';
import { openSite, translate } from '../../support/site.ts';
import type { Site } from '../../support/site.ts';
import { status } from '../../../src/testing.ts';

const TOKEN = randomBytes(24).toString('hex');
/** The page refreshes every five seconds. */
const SEEN = { timeout: 60_000 };

let browser: Browser;

beforeAll(async () => {
  browser = await startBrowser();
});

afterAll(() => browser.close());

const text = (tab: Tab, selector: string): Promise<string> =>
  tab.read<string>(`document.querySelector(${JSON.stringify(selector)})?.innerText.replaceAll(/\\s+/g, ' ').trim() ?? ''`);
/** A tile's text, by its name. */
const tile = (tab: Tab, name: string): Promise<string> =>
  tab.read<string>(
    `[...document.querySelectorAll('.tiles > div')].map((one) => one.innerText.replaceAll(/\\s+/g, ' ')).find((one) => one.startsWith('${name}')) ?? ''`,
  );
const drawn = (tab: Tab): Promise<string[]> =>
  tab.read<string[]>(
    `[...document.querySelectorAll('[data-chart]')].filter((figure) => figure.querySelector('svg:has(path)').getBoundingClientRect().width > 100).map((figure) => figure.dataset.chart)`,
  );
const CHARTS = ['requests', 'latency', 'characters', 'engine-failures', 'in-flight'];

onOneGateway({ config: { admin: { token: TOKEN } } }, (setting) => {
  const opsUrl = (): string => `http://127.0.0.1:${setting.gateway.opsPort}`;
  const signedIn = (look = {}): Promise<Tab> => ConsoleTab.signedIn(browser, setting.gateway.opsPort, TOKEN, look).then(({ tab }) => tab);
  const translated = async (): Promise<void> => {
    const { key } = await setting.gateway.team();
    const answer = await ask(setting, { method: 'POST', path: '/v1/translate', key, body: { text: ['0123456789'], target_lang: 'DE' } });
    expect(answer.status).toBe(200);
  };

  test('a translation appears in figures and charts of an open page, without errors', async () => {
    const tab = await signedIn();
    await expect.poll(() => drawn(tab)).toEqual(CHARTS);
    const words = (id: string): Promise<string> => tab.read<string>(`document.querySelector('[data-chart="${id}"] svg').ariaLabel`);
    const before = await tile(tab, 'Characters');
    await translated();
    await expect.poll(() => tile(tab, 'Characters'), SEEN).not.toBe(before);
    await expect.poll(() => words('requests'), SEEN).not.toContain('Answered: latest 0, highest 0');
    expect(await words('characters')).toMatch(/Characters: latest [\d.]+, highest [\d.]+/);
    const minute = `[...document.querySelectorAll('[data-chart="characters"] rect')].map((one) => one.textContent).join()`;
    expect(await tab.read<string>(minute)).toMatch(/\d\d:\d\d UTC: Characters (?!0,)[\d.]+/);
    expect(await text(tab, '[data-part="state"]')).toMatch(/^Gateway serving up \d+ .*Store answers.*Engine answers native · one replica$/);
    expect([tab.complaints, tab.requestsBeyond(opsUrl())]).toEqual([[], []]);
    await tab.close();
  });

  test('without scripts the same figures are in charts and tables, as of when the page was loaded', async () => {
    await translated();
    const tab = await signedIn({ scripts: false });
    expect(await drawn(tab)).toEqual(CHARTS);
    await tab.page.click('#minutes summary');
    const cells = `[...document.querySelectorAll('[data-part="minutes"] tbody tr')].map((row) => [...row.cells].map((cell) => cell.innerText))`;
    const rows = await tab.read<string[][]>(cells);
    expect(rows.length).toBeGreaterThanOrEqual(15);
    expect(rows.some((row) => Number(row[1]) >= 1 && Number(row[7]) >= 10 && / (?:ms|s)$/.test(row[5]!))).toBe(true);
    expect(await text(tab, '[data-part="outcomes"]')).toContain('Answered');
    expect(tab.complaints).toEqual([]);
    await tab.close();
  });
});

describe('with two workers', () => {
  let site: Site;
  let gateway: GatewayProcess;
  const signedIn = async (look = {}): Promise<Tab> =>
    (await ConsoleTab.signedIn(browser, Number(new URL(gateway.opsUrl).port), TOKEN, look)).tab;

  beforeAll(async () => {
    site = await openSite();
    await site.configure({ engine: { urls: [site.engine.url] }, admin: { token: TOKEN } });
    gateway = await site.serve('--workers', '2');
  });

  afterAll(async () => {
    await gateway.end('SIGKILL');
    await site.close();
  });

  test('when the session ends while the page is open, it says so with a link to sign in, and stops polling', async () => {
    const tab = await signedIn();
    await expect.poll(() => drawn(tab)).toEqual(CHARTS);
    await tab.page.browserContext().deleteCookie(...(await tab.page.browserContext().cookies()));
    await expect.poll(() => text(tab, '#trouble'), SEEN).toBe('Your session has ended: the figures are old. Sign in again');
    const asked = tab.requests.length;
    await tab.follow('#trouble a');
    expect(await text(tab, 'h1')).toBe('Sign in');
    expect(tab.requests.slice(asked).filter((url) => url.endsWith('.json'))).toEqual([]);
    expect(tab.complaints).toEqual([]);
    await tab.close();
  });

  test('the page shows the sum of both and the state of the engine, and says briefly when the gateway is gone', async () => {
    const tab = await signedIn();
    expect(await text(tab, '[data-part="state"]')).toContain('2 of 2 workers answer');
    // Either worker may accept a connection.
    for (let i = 0; i < 8; i++) expect((await translate(gateway.port, site.team.key)).status).toBe(200);
    await expect.poll(() => tile(tab, 'Characters'), SEEN).toContain('80 in 15 min');
    expect(await text(tab, '[data-part="engines"] tbody')).toMatch(/answers – 8 0$/);
    site.engine.always(status(500));
    expect((await translate(gateway.port, site.team.key)).status).toBe(503);
    await expect
      .poll(() => text(tab, '[data-part="engines"] tbody'), SEEN)
      .toMatch(/fails the answer has an error status \(status\), \d+ s ago Check the engine's log: it failed to handle the request. 8 2$/);
    expect(await tile(tab, 'Engine failures')).toContain('2 in 15 min');
    expect(tab.complaints).toEqual([]);
    await gateway.end('SIGTERM');
    await expect.poll(() => text(tab, '#trouble'), SEEN).toContain('The gateway does not answer');
    await expect.poll(() => text(tab, '#trouble'), SEEN).toContain('10 seconds');
    expect(await axeFindings(tab)).toEqual([]);
    // The browser logs each attempt itself.
    expect(tab.complaints.length).toBeLessThanOrEqual(3);
    await tab.close();
  });
});
