// The documentation in a real browser without a network: complete, linked by anchors, readable, and self-contained.
import { readFileSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { GLOSSARY_ID } from '../../support/door/tables.ts';
import { answered } from '../../../src/index.ts';
import { axeFindings } from '../../support/axe.ts';
import { startBrowser } from '../../support/browser.ts';
import type { Browser } from '../../support/browser.ts';
import type { Tab } from '../../support/tab.ts';
import { outputOf } from '../../support/start-program.ts';
import type { TestGateway } from '../../support/gateway.ts';
import { startedUntil } from '../../support/started.ts';

const CONTRAST = readFileSync(new URL('contrast.js', import.meta.url), 'utf8');
const PAGES = ['/docs', '/docs/errors'] as const;
const DASHBOARD = 'https://app.example.com/';
const SAMPLES = `[...document.querySelectorAll('figure code')].map((code) => code.textContent)`;

describe('the documentation', () => {
  const started = startedUntil(afterAll);
  let gateway: TestGateway;
  let browser: Browser;
  let tab: Tab;

  beforeAll(async () => {
    // With a dashboard the page lists every code.
    const engineUrls = [(await started.engine()).url];
    gateway = await started.gateway({ engineUrls, config: { service: { dashboard_url: DASHBOARD } } });
    browser = await startBrowser();
    started.closes(() => browser.close());
  });

  beforeEach(async () => {
    tab = await browser.newTab();
  });

  afterEach(async () => {
    expect(tab.complaints).toEqual([]);
    expect(tab.requestsBeyond(gateway.opsUrl)).toEqual([]);
    await tab.close();
  });

  test.each(PAGES)('every link on %s leads somewhere', async (path) => {
    await tab.goto(gateway.opsUrl + path);
    const links = await tab.read<string[]>(`[...new Set([...document.querySelectorAll('a')].map((a) => a.href))]`);
    const pages = Map.groupBy(
      links.filter((link) => link !== DASHBOARD),
      (link) => link.split('#', 1)[0]!,
    );
    expect([...pages.keys()].toSorted()).toEqual(['/docs', '/docs/errors', '/openapi.json'].map((other) => gateway.opsUrl + other));
    for (const [url, toPage] of pages) {
      const html = await (await fetch(url)).text();
      const anchors = toPage.map((link) => link.split('#')[1]).filter((anchor) => anchor !== undefined);
      expect(anchors.filter((anchor) => !html.includes(`id="${anchor}"`))).toEqual([]);
    }
  });

  test.each(PAGES)('%s has the same content without scripts', async (path) => {
    const words = `document.querySelector('main').innerText.replaceAll(/\\s*\\bCopy\\b\\s*/g, ' ').replaceAll(/\\s+/g, ' ')`;
    await tab.goto(gateway.opsUrl + path);
    const withScripts = await tab.read<string>(words);
    await tab.look({ scripts: false });
    await tab.goto(gateway.opsUrl + path);
    expect(await tab.read('document.querySelectorAll("button").length')).toBe(0);
    expect(await tab.read<string>(words)).toBe(withScripts);
  });

  test.each(
    PAGES.flatMap((path) =>
      (['light', 'dark'] as const).flatMap((scheme) => [360, 800, 1440].map((width) => [path, scheme, width] as const)),
    ),
  )(
    '%s in %s, %i pixels wide, can be read without scrolling sideways and with enough contrast, and axe finds nothing',
    async (path, scheme, width) => {
      await tab.look({ width, height: 900, scheme });
      await tab.goto(gateway.opsUrl + path);
      expect(await tab.read('document.documentElement.scrollWidth <= document.documentElement.clientWidth')).toBe(true);
      expect(await tab.read(CONTRAST)).toEqual([]);
      expect(await axeFindings(tab)).toEqual([]);
    },
  );

  test('a sample is copied by its button, or selected if there is no clipboard', async () => {
    await tab.goto(`${gateway.opsUrl}/docs`);
    const button = `document.querySelector('#translate figure button')`;
    await tab.read(`navigator.clipboard.writeText = (text) => { globalThis.copied = text; return Promise.resolve(); }; ${button}.click()`);
    expect(await tab.read('copied')).toBe((await tab.read<string[]>(SAMPLES)).find((sample) => sample.startsWith('curl')));
    expect(await tab.read(`${button}.textContent`)).toBe('Copied');
    await tab.read(`navigator.clipboard.writeText = () => Promise.reject(new Error('no')); ${button}.click()`);
    expect(await tab.read(`${button}.textContent`)).toBe('Selected');
    expect(await tab.read('getSelection().toString()')).toMatch(/^curl -sS -X POST /);
  });

  test('the first Tab key press focuses a link that skips the navigation', async () => {
    await tab.goto(`${gateway.opsUrl}/docs`);
    await tab.page.keyboard.press('Tab');
    expect(await tab.read('document.activeElement.hash')).toBe('#main');
    expect(await tab.read('document.activeElement.getBoundingClientRect().left')).toBeGreaterThanOrEqual(0);
  });

  test('every sample request on the page works as described when it is pasted into a shell', async () => {
    const { teamId, key } = await gateway.team();
    await tab.goto(`${gateway.opsUrl}/docs`);
    const samples = (await tab.read<string[]>(SAMPLES)).filter((sample) => sample.startsWith('curl'));
    // Deletions come last.
    const sorted = samples.toSorted((a, b) => Number(a.includes('-X DELETE')) - Number(b.includes('-X DELETE')));
    const statuses: string[] = [];
    for (const sample of sorted) {
      const [glossary] = answered(await gateway.store.glossaries.list(teamId));
      const command = `${sample.replace(GLOSSARY_ID, glossary?.glossaryId ?? '')} -o /dev/null -w '%{http_code}'`;
      statuses.push(await outputOf('sh', ['-c', command], { env: { ...process.env, API_KEY: key }, uses: ['curl'] }));
    }
    expect(statuses.toSorted()).toEqual(['200', '200', '200', '200', '200', '200', '200', '200', '201', '204']);
  });
});
