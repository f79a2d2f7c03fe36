// What axe-core has to say of a page in the browser.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Tab } from './tab.ts';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
/** Rules of WCAG 2.2 AA, and what axe takes for good practice. */
const TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

/** What is wrong with the page as it is, a line each. */
export async function axeFindings(tab: Tab): Promise<string[]> {
  await tab.read(AXE);
  const run = `axe.run(document, { runOnly: ${JSON.stringify(TAGS)}, resultTypes: ['violations'] })`;
  const lines = `violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ html, any }) => html.slice(0, 120) + ' ' + (any[0]?.message ?? '')).join(' | '))`;
  return tab.read<string[]>(`${run}.then(({ violations }) => ${lines})`);
}
