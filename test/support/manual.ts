// The pages of the operator's manual, for tests that hold them to what the code does.
import { readdirSync, readFileSync } from 'node:fs';

const FOLDER = new URL('../../config/manual/', import.meta.url);

/** All pages, as paths from the checkout's root. */
export const MANUAL_PAGES: readonly string[] = readdirSync(FOLDER)
  .toSorted()
  .map((name) => `config/manual/${name}`);

/** The text of one page, by its name without `.md`. */
export function manualPage(name: string): string {
  return readFileSync(new URL(`${name}.md`, FOLDER), 'utf8');
}

/** What stands below a page's heading, up to the next one. Throws where there is none. */
export function manualSection(name: string, heading: string): string {
  const found = manualPage(name)
    .split(/^#{2,4} (?=.)/m)
    .find((text) => text.startsWith(`${heading}\n`));
  if (found === undefined) throw new Error(`config/manual/${name}.md has no "${heading}"`);
  return found;
}

/** The blocks of code in a text that are of this language. */
export function codeBlocks(text: string, language: string): string[] {
  return [...text.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'gm'))].map((match) => match[1]!);
}
