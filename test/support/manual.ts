// The pages of the operator's manual, for tests that check them against the code.
import { readdirSync, readFileSync } from 'node:fs';

const FOLDER = new URL('../../config/manual/', import.meta.url);

/** All pages, as paths from the checkout's root. */
export const MANUAL_PAGES: readonly string[] = readdirSync(FOLDER)
  .filter((name) => name.endsWith('.md'))
  .toSorted()
  .map((name) => `config/manual/${name}`);

/** The text of one page, by its name without `.md`. */
export function manualPage(name: string): string {
  return readFileSync(new URL(`${name}.md`, FOLDER), 'utf8');
}

/** The text below a heading of a page, up to the next one. Throws if there is none. */
export function manualSection(name: string, heading: string): string {
  const found = manualPage(name)
    .split(/^#{2,4} (?=.)/m)
    .find((text) => text.startsWith(`${heading}\n`));
  if (found === undefined) throw new Error(`config/manual/${name}.md has no "${heading}"`);
  return found;
}

/** The code blocks in a text. */
export function blocksIn(text: string): { readonly language: string; readonly text: string }[] {
  return [...text.matchAll(/^```(\w*)\n([^]*?)^```$/gm)].map(([, language, block]) => ({ language: language!, text: block! }));
}

/** Those of this language. */
export function codeBlocks(text: string, language: string): string[] {
  return blocksIn(text).flatMap((block) => (block.language === language ? [block.text] : []));
}
