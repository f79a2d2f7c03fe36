// The error for a refused configuration: all faults at once, one line each.
import { relative } from 'node:path';
import type { Config } from './config.ts';

/** A fault at one place: `plans.free.currency`, and why. */
export interface Fault {
  readonly path: string;
  readonly reason: string;
}

/** What is left of a refused configuration without its faults: later checks may find more in it. */
interface ValidRest {
  /** Not to be used for anything but these checks. */
  readonly config: Config;
  /** A line of theirs about a list's entry, by the entry's number in the file. */
  readonly asWritten: (line: string) => string;
}

/** With path, value and reason; can be printed as it is: one line without credentials. */
export class ConfigError extends Error {
  override name = 'ConfigError';
  readonly lines: readonly string[];
  /** All faults come from command line flags, so this is wrong usage and not a wrong file. */
  readonly flagsOnly: boolean;
  readonly rest: ValidRest | undefined;

  constructor(lines: readonly string[], flagsOnly = false, rest?: ValidRest) {
    super(lines.join('\n'));
    this.lines = lines;
    this.flagsOnly = flagsOnly;
    this.rest = rest;
  }
}

/** Throws a `ConfigError` if there are faults; `file` is an absolute path. */
export function assertFaultless(file: string, faults: readonly Fault[]): void {
  if (faults.length > 0) throw new ConfigError(linesOf(file, faults));
}

export function linesOf(file: string, faults: readonly Fault[]): string[] {
  return faults.map(({ path, reason }) => `${labelOf(file)}: ${path}: ${reason}`);
}

/** A file's name in messages: relative if it is below the working directory. */
export function labelOf(path: string): string {
  const here = relative(process.cwd(), path);
  return here === '' || here.startsWith('..') ? path : here;
}
