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
  const written = attempt(() => readYamlFile(path, fromVariable === undefined ? label : `${FILE_VARIABLE}: ${label}`, read));
  const stray = strayVariables(env, written.value);
  const warnings = stray === undefined ? [] : [stray];
  // If the file cannot be read, a mistyped variable is the more likely reason.
  if ('lines' in written) throw new ConfigError([...written.lines, ...warnings]);
  const value = Default(ConfigFile, Clone(withOverrides(written.value, overrides)));
  const faults = [...twofoldFaults(written.value, overrides), ...allFaults(value)];
  const lines = faults.map((fault) => lineOf(fault, label, overrides));
  const languagesFile = languagesFileOf(value, path);
  const languages = attempt(() => loadLanguages(languagesFile, read));
  if ('lines' in languages) lines.push(...languages.lines);
  else if (!faults.some(({ path: at }) => at === '' || at === 'engine' || at === 'engines')) {
    const unknown = languageFaults(value as ConfigFile, languages.value, faults);
    faults.push(...unknown);
    lines.push(...unknown.map((fault) => lineOf(fault, label, overrides)));
  }
  const originOf = (...place: Override['path']): string =>
    overrides.find((override) => override.path.join('.') === place.join('.'))?.origin ??
    (named !== undefined && isWritten(written.value, place) ? label : 'the default');
  const sources: ConfigOrigins = {
    store: originOf('store'),
    engineUrls: isWritten(written.value, ['engines']) ? originOf('engines') : originOf('engine', 'urls'),
    engineProtocol: originOf('engine', 'protocol'),
    warnings,
    written: sectionsOf(written.value),
    files: files.contents,
  };
  if (lines.length === 0 && !('lines' in languages)) {
    return withFiles(toConfig(value as ConfigFile, path, sources, languagesFile, languages.value), files);
  }
  const flagsOnly = faults.length === lines.length && allFromFlags(faults, overrides);
  const valid = validPart(value, allFaults);
  const rest = valid && {
    // The later checks do not depend on the languages.
    config: withFiles(toConfig(valid.value, path, sources, languagesFile, { sources: [], targets: [] }), files),
    asWritten: valid.asWritten,
  };
  throw new RefusedConfig([...lines, ...warnings], flagsOnly, rest);
}

/** With all that it names read, so that nothing else reads files. */
function withFiles(config: Config, files: FileSet): Config {
  for (const name of namedFiles(config)) files.add(name);
  return config;
}

interface ValidRest extends Pick<ValidPart, 'asWritten'> {
  /** Not to be used for anything but the later checks. */
  readonly config: Config;
}

export class RefusedConfig extends ConfigError {
  /** What can still be checked. */
  readonly rest: ValidRest | undefined;

  constructor(lines: readonly string[], flagsOnly: boolean, rest: ValidRest | undefined) {
    super(lines, flagsOnly);
    this.rest = rest;
  }
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

/** The result, or the lines of the `ConfigError`. */
type Attempted<T> = { readonly value: T } | { readonly value: undefined; readonly lines: readonly string[] };

function attempt<T>(load: () => T): Attempted<T> {
  try {
    return { value: load() };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return { value: undefined, lines: error.lines };
  }
}

function lineOf({ path, reason }: Fault, label: string, overrides: readonly Override[]): string {
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

interface ValidPart {
  readonly value: ConfigFile;
  /** A line about a list's entry, by the entry's number in the file. */
  readonly asWritten: (line: string) => string;
}

type FileMembers = Record<string, unknown>;

/** A member that was left out may reveal another fault, or cause one. */
const ROUNDS_MAX = 3;

/** `judge` checks a value; `undefined` if nothing useful is left. */
function validPart(written: unknown, judge: (value: unknown) => readonly Fault[]): ValidPart | undefined {
  const value = Clone(written) as FileMembers;
  /** Of each list the entries that are left, by their numbers in the file. */
  const numbers = new Map<string, readonly number[]>();
  for (let round = 0; round < ROUNDS_MAX; round++) {
    const faults = judge(value);
    if (faults.length === 0) return { value: value as ConfigFile, asWritten: (line) => renumbered(line, numbers) };
    if (faults.some(({ path }) => path === '')) return undefined;
    leaveOut(value, faults);
    for (const [name, list, holder] of listsOf(value)) {
      const before = numbers.get(name) ?? [...list.keys()];
      numbers.set(
        name,
        before.filter((_, index) => list[index] !== undefined),
      );
      holder[name.split('.').at(-1)!] = list.filter((entry) => entry !== undefined);
    }
    Default(ConfigFile, value);
  }
  return undefined;
}

/** The lists whose faulty entries do not affect the others, each with what holds it. */
function listsOf(value: FileMembers): (readonly [string, readonly unknown[], FileMembers])[] {
  const own = Object.entries(value).map(([name, list]) => [name, list, value] as const);
  const admin = value['admin'] as FileMembers | null | undefined;
  const all = [...own, ...(admin?.['tokens'] === undefined ? [] : [['admin.tokens', admin['tokens'], admin] as const])];
  return all.flatMap(([name, list, holder]) => (Array.isArray(list) ? [[name, list as unknown[], holder] as const] : []));
}

/** Removes members, and those of sections, with faults; a list's entry becomes `undefined`. */
function leaveOut(value: FileMembers, faults: readonly Fault[]): void {
  const lists = new Map(listsOf(value).map(([name, list]) => [name, list as unknown[]]));
  for (const { path } of faults) {
    const [first = '', second, third] = path.split('.');
    const section = value[first];
    const inner = lists.get(`${first}.${second}`);
    if (second === undefined || typeof section !== 'object' || section === null) delete value[first];
    else if (lists.has(first)) lists.get(first)![Number(second)] = undefined;
    else if (inner !== undefined && third !== undefined) inner[Number(third)] = undefined;
    else delete (section as FileMembers)[second];
    // The options belong to a protocol that is not known now.
    if (path === 'engine.protocol') delete (section as FileMembers)['options'];
  }
}

function renumbered(line: string, numbers: ReadonlyMap<string, readonly number[]>): string {
  return line.replace(
    /(^|: )(forward|plugins|admin\.tokens)\.(\d+)/,
    (_line, before: string, member: string, index: string) => `${before}${member}.${numbers.get(member)?.[Number(index)] ?? index}`,
  );
}
