// `npm run task -- pictures [--out FOLDER] [--only WORD]`: the console's pages as pictures, light and dark, in three widths.
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import process from 'node:process';
import { parseArgs } from 'node:util';
import { startBrowser } from '../support/browser.ts';
import type { Look, Tab } from '../support/tab.ts';
import { openSampleConsole } from './sample-console.ts';
import { samplePages } from './sample-pages.ts';

const WIDTHS = { phone: 390, laptop: 1280, wide: 1920 } as const;
const LOOKS: Readonly<Record<string, Look>> = Object.fromEntries(
  Object.entries(WIDTHS).flatMap(([name, width]) =>
    (['light', 'dark'] as const).map((scheme) => [`${name}-${scheme}`, { width, height: 900, scheme }]),
  ),
);

const { values } = parseArgs({ options: { out: { type: 'string', default: 'data/pictures' }, only: { type: 'string', default: '' } } });
await mkdir(values.out, { recursive: true });
const site = await openSampleConsole();
const browser = await startBrowser();
try {
  for (const [name, look] of Object.entries(LOOKS)) await picturesOf(name, look);
} finally {
  await browser.close();
  await site.close();
}

async function picturesOf(name: string, look: Look): Promise<void> {
  const tab = await browser.newTab(look);
  const devtools = await tab.page.createCDPSession();
  await devtools.send('Emulation.setScrollbarsHidden', { hidden: true });
  await tab.goto(`${site.url}/sign-in`);
  await take(tab, `sign-in-${name}`);
  await tab.page.type('#field-token', site.token);
  await tab.follow('main button');
  for (const [page, path] of Object.entries(samplePages(site))) {
    await tab.goto(site.url + path);
    // Charts are drawn when their figures have come.
    if (page === 'overview') await tab.page.waitForSelector('[data-chart="in-flight"] canvas');
    await take(tab, `${page}-${name}`);
  }
  await tab.close();
}

async function take(tab: Tab, name: string): Promise<void> {
  if (!name.includes(values.only)) return;
  const path = join(values.out, `${name}.png`) as `${string}.png`;
  await tab.page.screenshot({ path, fullPage: true });
  process.stdout.write(`${path}\n`);
}
