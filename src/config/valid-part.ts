// The part of a configuration without its faulty members, so that plugins, protocols and secrets can still be checked.
import type { Fault } from './config-error.ts';
import { Clone, Default } from '../domain/typebox.ts';
import { ConfigFile } from './schema.ts';

export interface ValidPart {
  readonly value: ConfigFile;
  /** A line about a list's entry, by the entry's number in the file. */
  readonly asWritten: (line: string) => string;
}

type FileMembers = Record<string, unknown>;

/** A member that was left out may reveal another fault, or cause one. */
const ROUNDS_MAX = 3;

/** `faultsOf` checks a value; `undefined` if nothing useful is left. */
export function validPart(written: unknown, faultsOf: (value: unknown) => readonly Fault[]): ValidPart | undefined {
  const value = Clone(written) as FileMembers;
  /** Of each list the entries that are left, by their numbers in the file. */
  const numbers = new Map<string, readonly number[]>();
  for (let round = 0; round < ROUNDS_MAX; round++) {
    const faults = faultsOf(value);
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

/** Removes the members, and members of sections, with faults; an entry of a list becomes `undefined`. */
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
