// The console with many teams, long names and big numbers: every page fits the window, and charts tell their values by pointer and keys.
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { openSampleConsole } from '../../pictures/sample-console.ts';
import type { SampleConsole } from '../../pictures/sample-console.ts';
import { samplePages } from '../../pictures/sample-pages.ts';
import { startBrowser } from '../../support/browser.ts';
import type { Browser } from '../../support/browser.ts';
import type { Look, Tab } from '../../support/tab.ts';

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

let browser: Browser;
let site: SampleConsole;

beforeAll(async () => {
  [site, browser] = await Promise.all([openSampleConsole(), startBrowser()]);
});

afterAll(async () => {
  await browser.close();
  await site.close();
});

async function signedIn(look: Look): Promise<Tab> {
  const tab = await browser.newTab(look);
  await tab.goto(`${site.url}/sign-in`);
  await tab.page.type('#field-token', site.token);
  await tab.follow('main button');
  return tab;
}

/** By how much the page is wider than the window, and what can be seen beyond its right edge: heads of tables are hidden on a phone. */
const TOO_WIDE = `[
  document.documentElement.scrollWidth - document.documentElement.clientWidth,
  [...document.querySelectorAll('main *')]
    .filter((one) => !one.closest('.unseen, svg, .u-wrap') && getComputedStyle(one.closest('thead') ?? one).position !== 'absolute')
    .filter((one) => one.getBoundingClientRect().right > document.documentElement.clientWidth + 1)
    .map((one) => one.outerHTML.slice(0, 80)),
]`;

/** Words of plans' names and of paths that are on two lines. */
const BROKEN_WORDS = `[...document.querySelectorAll('td[data-label="Plan"], td[data-label="Route"], [data-plan]')]
  .flatMap((cell) => [...cell.childNodes].filter((node) => node.nodeType === 3))
  .flatMap((text) => [...text.data.matchAll(/[^\\s/-]+/g)].filter((word) => {
    const range = document.createRange();
    range.setStart(text, word.index);
    range.setEnd(text, word.index + word[0].length);
    return range.getClientRects().length > 1;
  }).map(([word]) => word))`;

describe.each([390, 1280, 1920])('%i pixels wide', (width) => {
  test('nothing is wider than the window, and no name of a plan and no path breaks inside a word', async () => {
    const tab = await signedIn({ width, height: 900 });
    for (const [name, path] of Object.entries(samplePages(site))) {
      await tab.goto(site.url + path);
      if (name === 'overview') await tab.page.waitForSelector('[data-chart="in-flight"] canvas');
      expect([name, await tab.read(TOO_WIDE), await tab.read(BROKEN_WORDS)]).toEqual([name, [0, []], []]);
    }
    await tab.close();
  });
});

/** The figures that a usage chart shows: those of one bar. */
const SHOWN = `[...document.querySelectorAll('#history section:first-of-type .values')]
  .filter((one) => getComputedStyle(one).opacity === '1').map((one) => one.textContent.trim())`;

test('without scripts, a bar under the pointer or chosen by arrow keys shows its day and figures', async () => {
  const tab = await signedIn({ width: 1280, height: 900, scripts: false });
  await tab.goto(`${site.url}/teams/${site.teamId}`);
  const days = await tab.read<string[]>(
    `[...document.querySelectorAll('#history section:first-of-type tbody tr')].map((row) => row.cells[0].innerText + ': ' + row.cells[1].innerText)`,
  );
  const begins = (day: string): string => expect.stringMatching(new RegExp(`^${day} characters, \\d+ requests?$`)) as string;
  expect(await tab.read(SHOWN)).toEqual([begins(days[0]!)]);
  await tab.page.focus('#history section:first-of-type input:checked');
  for (let steps = 0; steps < 3; steps++) await tab.page.keyboard.press('ArrowLeft');
  expect(await tab.read(SHOWN)).toEqual([begins(days[3]!)]);
  await tab.page.hover('#history section:first-of-type label:nth-of-type(10)');
  expect(await tab.read(SHOWN)).toEqual([begins(days[20]!)]);
  await tab.close();
});

test('the live charts are sliders over time: arrow keys choose a moment, whose values are told beside the names and to screen readers', async () => {
  const tab = await signedIn({ width: 1280, height: 900 });
  await tab.page.waitForSelector('[data-chart="in-flight"] [role="slider"]');
  const chart = (id: string) =>
    tab.read<{ now: number; text: string; at: string; value: string }>(`(() => {
      const figure = document.querySelector('[data-chart="${id}"]');
      const plot = figure.querySelector('.plot');
      return {
        now: Number(plot.getAttribute('aria-valuenow')), text: plot.getAttribute('aria-valuetext'),
        at: figure.querySelector('.at').textContent, value: figure.querySelector('li b').textContent,
      };
    })()`);
  await tab.page.focus('[data-chart="latency"] .plot');
  const last = await chart('latency');
  for (const key of ['ArrowLeft', 'ArrowLeft', 'PageUp'] as const) await tab.page.keyboard.press(key);
  const chosen = await chart('latency');
  expect(chosen.now).toBe(last.now - 14);
  expect(chosen.at).toMatch(/^\d\d:\d\d:\d\d UTC$/);
  expect(chosen.text).toBe(`${chosen.at}, p50 ${chosen.value}, p99 ${chosen.text.split('p99 ')[1]}`);
  // The same moment in all charts.
  expect(await chart('characters')).toMatchObject({ now: chosen.now, at: chosen.at });
  await tab.page.keyboard.press('Home');
  expect((await chart('latency')).now).toBe(0);
  expect(tab.complaints).toEqual([]);
  await tab.close();
});
