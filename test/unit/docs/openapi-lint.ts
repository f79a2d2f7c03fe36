// The findings of Redocly's strictest rules, and of ours, in an OpenAPI document.
import { fileURLToPath } from 'node:url';
import { lintFromString, loadConfig } from '@redocly/openapi-core';

const RULES = fileURLToPath(new URL('redocly.yaml', import.meta.url));

/** One line for each finding. `without` names rules that do not apply to the document. */
export async function findings(source: string, without: readonly string[] = []): Promise<string[]> {
  const problems = await lintFromString({ source, config: await loadConfig({ configPath: RULES }), absoluteRef: 'openapi.json' });
  return problems
    .filter(({ ruleId }) => !without.includes(ruleId))
    .map(({ ruleId, message, location }) => `${ruleId}: ${message} ${location[0]?.pointer ?? ''}`);
}
