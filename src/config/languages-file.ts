// Reads the languages file: codes, English names, and which targets know formality.
import { Clone, Default } from 'typebox/value';
import type { LanguageTable } from '../domain/languages.ts';
import { ConfigError } from './config-error.ts';
import { faultsOf } from './faults.ts';
import type { Fault } from './faults.ts';
import { LanguagesFile } from './schema.ts';
import { readYamlFile } from './yaml-file.ts';

/** `label` is how errors name the file. Throws a `ConfigError`. */
export function loadLanguages(path: string, label: string): LanguageTable {
  const value = Default(LanguagesFile, Clone(readYamlFile(path, label)));
  const faults = faultsOf(LanguagesFile, value);
  const table = value as LanguageTable;
  if (faults.length === 0) faults.push(...repeated('sources', table.sources), ...repeated('targets', table.targets));
  if (faults.length > 0) throw new ConfigError(faults.map(({ path: where, reason }) => `${label}: ${where}: ${reason}`));
  return table;
}

function repeated(list: string, languages: readonly { readonly code: string }[]): Fault[] {
  const seen = new Set<string>();
  return languages.flatMap(({ code }, index) => {
    if (seen.has(code)) return [{ path: `${list}.${index}.code`, reason: `"${code}" is listed twice; leave one out` }];
    seen.add(code);
    return [];
  });
}
