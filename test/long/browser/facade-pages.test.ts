// The reference page with the routes of the facades, in a real browser: readable, its links lead somewhere, its samples work.
import { readFileSync } from 'node:fs';
import process from 'node:process';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { startBrowser } from '../../support/browser.ts';
import type { Browser } from '../../support/browser.ts';
import { FACADES } from '../../support/fronts.ts';
import { outputOf } from '../../support/start-program.ts';
import type { Tab } from '../../support/tab.ts';
import { startRunningGateway } from '../../support/running-gateway.ts';
import type { RunningGateway } from '../../support/running-gateway.ts';

const CONTRAST = readFileSync(new URL('contrast.js', import.meta.url), 'utf8');

let running: RunningGateway;
let browser: Browser;
let tab: Tab;

beforeAll(async () => {
  running = await startRunningGateway({ config: { plugins: FACADES } });
  browser = await startBrowser();
});

beforeEach(async () => {
  tab = await browser.newTab();
});

afterEach(async () => {
  expect(tab.complaints).toEqual([]);
  await tab.close();
});

afterAll(async () => {
  await browser.close();
  await running.stop();
});

test.each((['light', 'dark'] as const).flatMap((scheme) => [360, 1440].map((width) => [scheme, width] as const)))(
  'in %s, %i pixels wide, it can be read without scrolling sideways and with enough contrast',
  async (scheme, width) => {
    await tab.look({ width, height: 900, scheme });
    await tab.goto(`${running.opsUrl}/docs`);
    expect(await tab.read('document.documentElement.scrollWidth <= document.documentElement.clientWidth')).toBe(true);
    expect(await tab.read(CONTRAST)).toEqual([]);
  },
);

test('every link leads somewhere, to the documents of the facades too; no two sections share an anchor', async () => {
  await tab.goto(`${running.opsUrl}/docs`);
  const links = await tab.read<string[]>(`[...new Set([...document.querySelectorAll('a')].map((a) => a.href))]`);
  for (const plugin of ['deepl-v2', 'libretranslate', 'azure-v3', 'google-v2'])
    expect(links).toContain(`${running.opsUrl}/openapi/${plugin}.json`);
  const anchors = await tab.read<string[]>(`[...document.querySelectorAll('[id]')].map((element) => element.id)`);
  expect(new Set(anchors).size).toBe(anchors.length);
  for (const link of links) {
    const [page = '', anchor] = link.split('#');
    if (page === `${running.opsUrl}/docs`) expect([undefined, ...anchors]).toContain(anchor);
    else expect([page, (await fetch(page)).status]).toEqual([page, 200]);
  }
});

test.each([
  ['libretranslate', 10],
  // Each of its versions has samples of its own.
  ['azureV3', 5],
])('every sample request of %s works as described when it is pasted into a shell', async (plugin, count) => {
  const { key } = await running.gateway.team();
  await tab.goto(`${running.opsUrl}/docs`);
  const samples = await tab.read<string[]>(`[...document.querySelectorAll('[id^=${plugin}] figure code')].map((code) => code.textContent)`);
  const answerBehind = (i: number) => samples.slice(i).find((sample) => sample.startsWith('HTTP/'))!;
  const pairs = samples.flatMap((sample, i) => (sample.startsWith('curl') ? [[sample, answerBehind(i)] as const] : []));
  expect(pairs).toHaveLength(count);
  for (const [request, answer] of pairs) {
    const command = `${request} -o /dev/null -w '%{http_code}'`;
    const status = await outputOf('sh', ['-c', command], { env: { ...process.env, API_KEY: key }, uses: ['curl'] });
    expect([request, answer.startsWith(`HTTP/1.1 ${status} `)]).toEqual([request, true]);
  }
});
