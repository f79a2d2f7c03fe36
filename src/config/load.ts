// Loads the configuration: defaults, then the file, the environment and flags; a wrong one is
// refused with all faults at once, and what is left without them is checked further.
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { LanguageTable } from '../domain/languages.ts';
import { assertFaultless, ConfigError, labelOf } from './config-error.ts';
import type { Fault } from './config-error.ts';
import { ENGINE_URLS, toConfig, namedFiles } from './config.ts';
import type { Config, ConfigOrigins } from './config.ts';
import { faultsOf } from './faults.ts';
import { besideFile, FileSet } from './file-set.ts';
import { overridesOf, strayVariables, withOverrides } from './environment.ts';
import type { ConfigFlags, Environment, Override } from './environment.ts';
import { engineFaults, joinedFaults, languageFaults, listedTwice, planFaults, twofoldFaults } from './rules.ts';
import { Clone, Default } from '../domain/typebox.ts';
import { ConfigFile, LanguagesFile } from './schema.ts';
import { readText, readYamlFile, valueOfYaml } from './yaml-file.ts';

export interface ConfigSources {
  /** `--config`, else `LINGATE_CONFIG`, else the package's. Relative to the working directory. */
  readonly file?: string | undefined;
  readonly env: Environment;
  readonly flags?: ConfigFlags;
  /** Takes in what is read. */
  readonly files?: FileSet;
}

const DEFAULT_FILE = fileURLToPath(new URL('../../config/lingate.yaml', import.meta.url));
/** The package's own. */
const CONFIG_FOLDER = fileURLToPath(new URL('../../config/', import.meta.url));
const DEFAULT_LANGUAGES_FILE = join(CONFIG_FOLDER, 'languages.yaml');
/** A copied configuration names them, and need not bring them. */
const SHIPPED_LANGUAGES = ['languages.yaml', 'languages-all.yaml'];
const FILE_VARIABLE = 'LINGATE_CONFIG';

/** Throws a `ConfigError`. Reads the file and all that it names; opens and checks nothing else. */
export function loadConfig({ file, env, flags = {}, files = new FileSet() }: ConfigSources): Config {
  const fromVariable = file === undefined && env[FILE_VARIABLE] !== '' ? env[FILE_VARIABLE] : undefined;
  const named = file ?? fromVariable;
  const path = named === undefined ? DEFAULT_FILE : resolve(named);
  const label = labelOf(path);
  const overrides = overridesOf(env, flags);
  const read = (name: string): Buffer => files.read(name);
  const lines: string[] = [];
  const written = tried(() => readYamlFile(path, fromVariable === undefined ? label : `${FILE_VARIABLE}: ${label}`, read), lines);
  const stray = strayVariables(env, written);
  const warnings = stray === undefined ? [] : [stray];
  // If the file cannot be read, a mistyped variable is the more likely reason.
  if (lines.length > 0) throw new ConfigError([...lines, ...warnings]);
  const value = Default(ConfigFile, Clone(withOverrides(written, overrides)));
  const faults = [...twofoldFaults(written, overrides), ...allFaults(value)];
  const lineOf = (fault: Fault): string => lineAbout(fault, label, overrides);
  lines.push(...faults.map(lineOf));
  const languagesFile = languagesFileOf(value, path);
  const languages = tried(() => loadLanguages(languagesFile, read), lines);
  if (languages !== undefined && !faults.some(({ path: at }) => at === '' || at === 'engine' || at === 'engines')) {
    const unknown = languageFaults(value as ConfigFile, languages, faults);
    faults.push(...unknown);
    lines.push(...unknown.map(lineOf));
  }
  const originOf = (...place: Override['path']): string =>
    overrides.find((override) => override.path.join('.') === place.join('.'))?.origin ??
    (named !== undefined && isWritten(written, place) ? label : 'the default');
  const sources: ConfigOrigins = {
    store: originOf('store'),
    engineUrls: isWritten(written, ['engines']) ? originOf('engines') : originOf('engine', 'urls'),
    engineProtocol: originOf('engine', 'protocol'),
    warnings,
    written: sectionsOf(written),
    files: files.contents,
  };
  const configOf = (valid: ConfigFile, table: LanguageTable): Config =>
    withFiles(toConfig(valid, path, sources, languagesFile, table), files);
  if (lines.length === 0) return configOf(value as ConfigFile, languages!);
  const flagsOnly = faults.length === lines.length && allFromFlags(faults, overrides);
  const { valid, asWritten } = validRest(value) ?? {};
  // The later checks do not depend on the languages.
  const rest = valid && { config: configOf(valid, { sources: [], targets: [] }), asWritten: asWritten! };
  throw new ConfigError([...lines, ...warnings], flagsOnly, rest);
}

/** The result, or `undefined` if it throws a `ConfigError`, whose lines are added to `lines`. */
function tried<T>(load: () => T, lines: string[]): T | undefined {
  try {
    return load();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    lines.push(...error.lines);
    return undefined;
  }
}

/** With all that it names read, so that nothing else reads files. */
function withFiles(config: Config, files: FileSet): Config {
  for (const name of namedFiles(config)) files.add(name);
  return config;
}

/** Of the file itself, with the one within a section whose default goes elsewhere. */
function sectionsOf(file: unknown): readonly string[] {
  if (typeof file !== 'object' || file === null) return [];
  return [...Object.keys(file), ...(isWritten(file, ['engine', 'urls']) ? [ENGINE_URLS] : [])];
}

/** Whether the file itself has the member. */
function isWritten(file: unknown, place: readonly string[]): boolean {
  let part = file;
  for (const member of place) {
    if (typeof part !== 'object' || part === null || !Object.hasOwn(part, member)) return false;
    part = (part as Readonly<Record<string, unknown>>)[member];
  }
  return true;
}

function allFaults(value: unknown): Fault[] {
  const faults = faultsOf(ConfigFile, value);
  // The value is not even an object: there are no members to check.
  if (faults.some(({ path }) => path === '')) return faults;
  const config = value as ConfigFile;
  const has = (path: string): boolean => faults.some((fault) => fault.path === path);
  if (!has('plans')) faults.push(...planFaults(config.plans));
  faults.push(...joinedFaults(config, faults), ...engineFaults(config, faults));
  return faults;
}

/** The path of the list of languages, as far as a configuration with faults has one. */
function languagesFileOf(value: unknown, file: string): string {
  const languages = (value as { readonly languages?: unknown } | null)?.languages;
  if (typeof languages !== 'string' || languages === '') return DEFAULT_LANGUAGES_FILE;
  const beside = besideFile(languages, file);
  return SHIPPED_LANGUAGES.includes(languages) && !existsSync(beside) ? join(CONFIG_FOLDER, languages) : beside;
}

function lineAbout({ path, reason }: Fault, label: string, overrides: readonly Override[]): string {
  const override = overrideOf(path, overrides);
  if (override !== undefined) return `${override.origin}: ${reason}`;
  return path === '' ? `${label}: ${reason}` : `${label}: ${path}: ${reason}`;
}

function allFromFlags(faults: readonly Fault[], overrides: readonly Override[]): boolean {
  return faults.every(({ path }) => overrideOf(path, overrides)?.fromFlag === true);
}

function overrideOf(path: string, overrides: readonly Override[]): Override | undefined {
  return overrides.find((override) => {
    const place = override.path.join('.');
    return path === place || path.startsWith(`${place}.`);
  });
}

/** Read last, without a fault: most reloads and commands find it unchanged, and parsing is slow. */
let lastLanguages: { readonly text: string; readonly table: LanguageTable } | undefined;

/** Throws a `ConfigError`. */
function loadLanguages(path: string, read: (path: string) => Buffer): LanguageTable {
  const text = readText(path, labelOf(path), read);
  if (text === lastLanguages?.text) return lastLanguages.table;
  const value = Default(LanguagesFile, Clone(valueOfYaml(text, labelOf(path))));
  const faults = faultsOf(LanguagesFile, value);
  const table = value as LanguageTable;
  if (faults.length === 0) {
    for (const list of ['sources', 'targets'] as const) {
      const codes = table[list].map(({ code }) => code);
      faults.push(...listedTwice(codes, (index) => `${list}.${index}.code`));
    }
  }
  assertFaultless(path, faults);
  lastLanguages = { text, table };
  return table;
}

type FileMembers = Record<string, unknown>;

/** A member that was left out may reveal another fault, or cause one. */
const ROUNDS_MAX = 3;

/** What of a value has no faults, and lines about its lists' entries by their numbers in the file; `undefined` if nothing useful is left. */
function validRest(written: unknown): { readonly valid: ConfigFile; readonly asWritten: (line: string) => string } | undefined {
  const value = Clone(written) as FileMembers;
  const before = listsOf(value);
  for (let round = 0; round < ROUNDS_MAX; round++) {
    const faults = allFaults(value);
    if (faults.length === 0) return { valid: value as ConfigFile, asWritten: (line) => renumbered(line, before, listsOf(value)) };
    if (faults.some(({ path }) => path === '')) return undefined;
    leaveOut(value, faults);
    Default(ConfigFile, value);
  }
  return undefined;
}

type Lists = ReadonlyMap<string, readonly unknown[]>;

/** By path, those whose faulty entries do not affect the others. */
function listsOf(value: FileMembers): Lists {
  const tokens = (value['admin'] as FileMembers | null | undefined)?.['tokens'];
  const named = [...Object.entries(value), ['admin.tokens', tokens] as const];
  return new Map(named.flatMap(([name, list]) => (Array.isArray(list) ? [[name, list as unknown[]]] : [])));
}

/** Removes members, and those of sections, with faults; of a list only the entries with faults. */
function leaveOut(value: FileMembers, faults: readonly Fault[]): void {
  const lists = listsOf(value);
  const wrong = new Set<unknown>();
  for (const { path } of faults) {
    const [first = '', second, third] = path.split('.');
    const section = value[first] as FileMembers | null | undefined;
    const inner = lists.get(`${first}.${second}`);
    if (second === undefined || typeof section !== 'object' || section === null) delete value[first];
    else if (lists.has(first)) wrong.add(lists.get(first)![Number(second)]);
    else if (inner !== undefined && third !== undefined) wrong.add(inner[Number(third)]);
    else delete section[second];
    // The options belong to a protocol that is not known now.
    if (path === 'engine.protocol') delete section!['options'];
  }
  for (const [name, list] of listsOf(value)) {
    const [first, member] = name.split('.') as [string, string?];
    const holder = member === undefined ? value : (value[first] as FileMembers);
    holder[member ?? first] = list.filter((entry) => !wrong.has(entry));
  }
}

function renumbered(line: string, before: Lists, now: Lists): string {
  return line.replace(
    /(^|: | of )(forward|plugins|admin\.tokens)\.(\d+)/g,
    (_line, start: string, name: string, index: string) =>
      `${start}${name}.${before.get(name)?.indexOf(now.get(name)?.[Number(index)]) ?? index}`,
  );
}
