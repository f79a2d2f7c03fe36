// The part of a configuration without its faulty members, so that plugins, protocols and secrets can still be checked.
import type { Fault } from './config-error.ts';
import { Clone, Default } from '../domain/typebox.ts';
import { ConfigFile } from './schema.ts';

export interface SoundPart {
  readonly value: ConfigFile;
  /** A line about a list's entry, by the entry's number in the file. */
  readonly asWritten: (line: string) => string;
}

type FileMembers = Record<string, unknown>;

/** A list within a section: a faulty entry does not affect the others. */
const LIST_IN_SECTION = /^(admin)\.(tokens)\.(\d+)/;

/** A member that was left out may reveal another fault, or cause one. */
const ROUNDS_MAX = 3;

/** `faultsOf` checks a value; `undefined` if nothing useful is left. */
export function soundPart(written: unknown, faultsOf: (value: unknown) => readonly Fault[]): SoundPart | undefined {
  const numbers = new Map<string, readonly number[]>();
  const value = Clone(written) as FileMembers;
  for (let round = 0; round < ROUNDS_MAX; round++) {
    const faults = faultsOf(value);
    if (faults.length === 0) return { value: value as ConfigFile, asWritten: (line) => renumbered(line, numbers) };
    if (faults.some(({ path }) => path === '')) return undefined;
    for (const [member, entries] of leaveOut(value, faults)) {
      const before = numbers.get(member);
      numbers.set(member, before === undefined ? entries : entries.map((index) => before[index]!));
    }
    Default(ConfigFile, value);
  }
  return undefined;
}

/** Removes the members with faults. For lists that lost entries, returns which of them are left. */
function leaveOut(value: FileMembers, faults: readonly Fault[]): Map<string, readonly number[]> {
  const wrong = new Map<string, Set<number>>();
  for (const { path } of faults) {
    const [first = '', second] = path.split('.');
    const section = value[first];
    const entry = LIST_IN_SECTION.exec(path);
    if (entry !== null) {
      const member = `${entry[1]}.${entry[2]}`;
      wrong.set(member, (wrong.get(member) ?? new Set()).add(Number(entry[3])));
      continue;
    }
    if (Array.isArray(section) && second !== undefined) wrong.set(first, (wrong.get(first) ?? new Set()).add(Number(second)));
    else if (typeof section === 'object' && section !== null && second !== undefined) delete (section as FileMembers)[second];
    else delete value[first];
    // The options belong to a protocol that is not known now.
    if (path === 'engine.protocol') delete (section as FileMembers)['options'];
  }
  return new Map(
    [...wrong].map(([member, indexes]) => {
      const [first = '', second] = member.split('.');
      const [holder, name] = second === undefined ? [value, first] : [value[first] as FileMembers, second];
      // The section may have been left out as a whole.
      const entries = (holder?.[name] ?? []) as readonly unknown[];
      const left = [...entries.keys()].filter((index) => !indexes.has(index));
      if (holder !== undefined) holder[name] = left.map((index) => entries[index]);
      return [member, left];
    }),
  );
}

function renumbered(line: string, numbers: ReadonlyMap<string, readonly number[]>): string {
  return line.replace(/(^|: )(forward|plugins|admin\.tokens)\.(\d+)/, (whole, before: string, member: string, index: string) => {
    const left = numbers.get(member);
    return left === undefined ? whole : `${before}${member}.${left[Number(index)]}`;
  });
}
