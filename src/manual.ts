// Generates the manual's tables of engine protocols, engine failures, limits, the admin API,
// metrics and vendors' parameters: `npm run task -- manual`.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { failureTable } from './docs/engine-advice.ts';
import { ADMIN_PREFIX, ADMIN_ROUTES } from './admin/admin-routes.ts';
import { adminTable, limitTable, metricTable, withEngineTables, withTable } from './docs/manual-tables.ts';
import { builtInProtocols, optionsSchemaOf } from './engines/protocols/built-in.ts';
import { everyMetric } from './ops/metrics/table.ts';
import { AZURE_OPERATIONS } from './plugins/azure-v3/azure-operations.ts';
import { DEEPL_OPERATION } from './plugins/deepl-v2/deepl-translate.ts';
import { DEEPL_DOCUMENT_OPERATION } from './plugins/deepl-v2/deepl-documents.ts';
import { parameterTable } from './plugins/facades/parameter-table.ts';
import type { DescribedOperation } from './plugins/facades/parameter-table.ts';
import { COMMON } from './plugins/google/google-api.ts';
import { PARAMETERS as GOOGLE_V2 } from './plugins/google-v2.ts';
import { PARAMETERS_V3 } from './plugins/google-v3.ts';

const MANUAL = new URL('../config/manual/', import.meta.url);

/** The translate operations of other vendors' APIs, whose parameters are all in one table. */
export const OPERATIONS: readonly DescribedOperation[] = [
  DEEPL_OPERATION,
  DEEPL_DOCUMENT_OPERATION,
  ...AZURE_OPERATIONS,
  { api: 'Google v2', parameters: [...GOOGLE_V2, ...COMMON], others: 'refused' },
  { api: 'Google v3', parameters: [...PARAMETERS_V3, ...COMMON], others: 'refused' },
];

/** The pages with tables from the code, by name, with the functions that fill them in. */
const PAGES: Readonly<Record<string, (text: string) => string>> = {
  'engines.md': withProtocols,
  'engine-failures.md': (text) => withTable(text, 'engine failures', failureTable()),
  'plans-and-metering.md': (text) => withTable(text, 'limits', limitTable()),
  'teams-and-keys.md': (text) => withTable(text, 'operations', adminTable(ADMIN_PREFIX, ADMIN_ROUTES)),
  'watching.md': (text) => withTable(text, 'metrics', metricTable(everyMetric())),
  'api-parameters.md': (text) => withTable(text, 'parameters', parameterTable(OPERATIONS)),
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
    can: protocol.can,
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
