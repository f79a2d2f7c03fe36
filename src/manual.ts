// Writes the tables of engine protocols and of engine failures into the operator's manual, from the code: `npm run task -- manual`.
import { readFileSync, writeFileSync } from 'node:fs';
import process from 'node:process';
import { capabilitiesOf, optionsSchemaOf } from './config/engine-options.ts';
import { withEngineTables, withTable } from './docs/engine-table.ts';
import { failureTable } from './docs/engine-advice.ts';
import { builtInProtocols } from './engines/protocols/built-in.ts';

const MANUAL = new URL('../config/README.md', import.meta.url);

/** The manual as it should be. */
export function currentManual(): string {
  const protocols = [...builtInProtocols].map(([name, protocol]) => ({
    name,
    options: optionsSchemaOf(protocol),
    can: capabilitiesOf(protocol),
  }));
  return withTable(withEngineTables(readFileSync(MANUAL, 'utf8'), protocols), 'engine failures', failureTable());
}

if (import.meta.main) {
  try {
    writeFileSync(MANUAL, currentManual());
  } catch (error) {
    process.stderr.write(`config/README.md: ${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = 1;
  }
}
