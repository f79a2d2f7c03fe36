// What `npm run task -- test:bare …` is given.
import { parseArgs } from 'node:util';
import { RELEASES } from './root-file-system.ts';
import type { Debian } from './root-file-system.ts';
import { NODES } from './node.ts';
import type { NodeName } from './node.ts';

export interface BareArguments {
  readonly debians: readonly Debian[];
  /** Whose Node the machine has, one after the other: the first finds it fresh and runs all tests, the others those that can differ. */
  readonly nodes: readonly NodeName[];
  /** npm scripts to run in place of the README's commands. */
  readonly suites: readonly string[];
}

export const USAGE = `npm run task -- test:bare [--debian 12|13] [--node own|22|24|26] [--suite "SCRIPT [-- ARGUMENTS]"]`;

/** Throws an error of one line for what is wrong. */
export function readBareArguments(args: readonly string[]): BareArguments {
  const { values } = parseArgs({
    args: [...args],
    options: {
      debian: { type: 'string', multiple: true, default: Object.keys(RELEASES) },
      node: { type: 'string', multiple: true, default: ['own'] },
      suite: { type: 'string', multiple: true, default: [] },
    },
  });
  const unknown = values.debian.find((number) => !(number in RELEASES));
  if (unknown !== undefined) throw new Error(`--debian ${unknown}: one of ${Object.keys(RELEASES).join(', ')}`);
  const strange = values.node.find((name) => !NODES.includes(name as NodeName));
  if (strange !== undefined) throw new Error(`--node ${strange}: one of ${NODES.join(', ')}`);
  return { debians: values.debian as Debian[], nodes: values.node as NodeName[], suites: values.suite };
}
