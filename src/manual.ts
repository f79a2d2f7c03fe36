// Generates the tables of engine protocols and engine failures in the operator's manual: `npm run task -- manual`.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { capabilitiesOf, optionsSchemaOf } from './config/engine-options.ts';
import { withEngineTables, withTable } from './docs/engine-table.ts';
import { failureTable } from './docs/engine-advice.ts';
import { builtInProtocols } from './engines/protocols/built-in.ts';

const MANUAL = new URL('../config/manual/', import.meta.url);

/** The pages with tables from the code, by name, with the functions that fill them in. */
const PAGES: Readonly<Record<string, (text: string) => string>> = {
  'engines.md': withProtocols,
  'engine-failures.md': (text) => withTable(text, 'engine failures', failureTable()),
};

/** The texts that the pages should have, by name. */
export function currentPages(): Readonly<Record<string, string>> {
  const pages = Object.entries(PAGES).map(([name, fill]) => [name, fill(readFileSync(new URL(name, MANUAL), 'utf8'))] as const);
  return Object.fromEntries(pages);
}

function withProtocols(text: string): string {
  const protocols = [...builtInProtocols].map(([name, protocol]) => ({
    name,
    options: optionsSchemaOf(protocol),
    can: capabilitiesOf(protocol),
  }));
  return withEngineTables(text, protocols);
}

// Not when a test imports it; `import.meta.main` is false when the task runner has imported it.
if (process.argv[1] === fileURLToPath(import.meta.url)) {
  try {
    for (const [name, text] of Object.entries(currentPages())) writeFileSync(new URL(name, MANUAL), text);
  } catch (error) {
    process.stderr.write(`config/manual: ${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = 1;
  }
}
