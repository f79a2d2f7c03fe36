// Takes one program of the table away and sees whether the command that needs it fails soon and says which one is missing.
import { renameSync } from 'node:fs';
import { join } from 'node:path';
import { PARTS, PROGRAMS } from '../support/programs.ts';
import type { Need } from '../support/programs.ts';
import type { BareMachine } from './bare-machine.ts';
import { expectPassed } from './command.ts';

const PREPARE_MS = 900_000;
const MISSED_WITHIN_MS = 60_000;

/** What some command does not work without; `sudo` is none of these. */
const TABLE: Readonly<Record<string, Need>> = Object.fromEntries(
  Object.entries<Need>({ ...PROGRAMS, ...PARTS }).filter(([, need]) => need.for.length > 0),
);

/** The names that are meant; throws an error of one line for one that is not in the table. */
export function namesOf(wanted: readonly string[]): readonly string[] {
  if (wanted.includes('all')) return Object.keys(TABLE);
  const unknown = wanted.find((name) => TABLE[name] === undefined);
  if (unknown !== undefined) throw new Error(`--without ${unknown}: one of all, ${Object.keys(TABLE).join(', ')}`);
  return wanted;
}

/** Installs the project and all that the commands need which are tried below. */
export async function prepareFor(machine: BareMachine, names: readonly string[]): Promise<void> {
  const commands = new Set(names.map((name) => commandThatNeeds(name)));
  const prepare = [...commands].map((command) => `npm run task -- prepare ${command}`);
  // Up to date first: a newer version of its package would bring the program back.
  const upgrade = 'export DEBIAN_FRONTEND=noninteractive; apt-get update && apt-get upgrade --yes';
  const ran = await machine.run([upgrade, 'npm ci', ...prepare].join(' && '), { limitMs: PREPARE_MS });
  expectPassed('apt-get upgrade, npm ci, and what is needed', ran);
}

/** An error when the command passes, takes too long, or fails without a word of the program. */
export async function isMissedByName(machine: BareMachine, name: string): Promise<void> {
  const command = commandThatNeeds(name);
  const file = join(machine.root, TABLE[name]!.file);
  renameSync(file, `${file}.taken-away`);
  try {
    const { status, output, killed } = await machine.run(`npm run task -- ${command}`, { limitMs: MISSED_WITHIN_MS });
    if (killed !== undefined) throw new Error(`npm run task -- ${command}: ${killed}\n${output.slice(-2000)}`);
    if (status === 0) throw new Error(`npm run task -- ${command} passed without it`);
    if (!isNamed(output, name)) throw new Error(`npm run task -- ${command} failed without a word of it:\n${output.slice(-2000)}`);
  } finally {
    renameSync(`${file}.taken-away`, file);
  }
}

/** `npm test` where it needs the program, otherwise the first command that does. */
export function commandThatNeeds(name: string): string {
  const { for: commands } = TABLE[name]!;
  return commands.includes('test') ? 'test' : commands[0]!;
}

/** Its file, or its name as npm says it, which cannot run a script without a shell. */
function isNamed(output: string, name: string): boolean {
  return output.includes(`missing: ${TABLE[name]!.file} `) || output.includes(`spawn ${name} ENOENT`);
}
