// Runs the command line as users do: in a process and a folder of its own.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bareEnvironment } from './compile-cache.ts';
import type { Io } from '../../src/cli/command.ts';
import { run } from './door/gateways.ts';
import { launch, OWN_NODE, runProgram } from './start-program.ts';
import type { Program } from './started-program.ts';

export interface Ended {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

interface CommandOptions {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Standard input; by default there is none. */
  readonly input?: string;
  /** Node's own flags. */
  readonly nodeArgs?: readonly string[];
}

export const MAIN = fileURLToPath(new URL('../../src/lingate.js', import.meta.url));

/** Started with a bare environment: none of the machine's other variables reach it. */
export function start(args: readonly string[], options: CommandOptions = {}): Program {
  return launch(...processOf(args, options));
}

export async function lingate(args: readonly string[], options: CommandOptions = {}): Promise<Ended> {
  const { status, stdout, stderr } = await runProgram(...processOf(args, options));
  return { status, stdout, stderr };
}

function processOf(args: readonly string[], { cwd, env = {}, input, nodeArgs = [] }: CommandOptions) {
  const where = { ...(cwd === undefined ? {} : { cwd }), ...(input === undefined ? {} : { input }) };
  return [OWN_NODE, [...nodeArgs, MAIN, ...args], { ...where, env: { ...bareEnvironment(), ...env } }] as const;
}

/** The same without a process: for tables of cases, and where only the effect on a store matters. */
export function inProcess(args: readonly string[], env: Readonly<Record<string, string>> = {}, stdin = ''): Promise<Ended> {
  return runHere(args, { env, secret: () => Promise.resolve(stdin.trim()) });
}

/** In process, at a terminal where somebody answers every question with `answer`; the questions are in `stderr`. */
export function atTerminal(args: readonly string[], answer: string): Promise<Ended> {
  return runHere(args, { asks: true, line: () => Promise.resolve(answer) });
}

async function runHere(args: readonly string[], own: Partial<Io>): Promise<Ended> {
  let stdout = '';
  let stderr = '';
  const line = own.line ?? (() => Promise.resolve(undefined));
  const status = await run(args, {
    out: (part) => void (stdout += part),
    err: (part) => void (stderr += part),
    env: {},
    watched: false,
    shown: false,
    abandoned: () => false,
    secret: () => Promise.resolve(''),
    asks: false,
    nowMs: () => Date.now(),
    ...own,
    line(prompt) {
      stderr += prompt;
      return line(prompt);
    },
  });
  return { status, stdout, stderr };
}

const NEW_STORE = /^lingate [a-z ]+: made a new database, [^\n]+\n/;

/** Tests name their teams alike. */
const SAME_NAME = /^lingate team (?:create|update): warning: team \w{26}, [^\n]+, has the same (?:name|reference) already\.\n/;

/** The output of a command with --json; fails the test unless it succeeded without messages, except that it created a database. */
export function parsed({ status, stdout, stderr }: Ended): unknown {
  if (status !== 0 || stderr.replace(NEW_STORE, '').replace(SAME_NAME, '') !== '') throw new Error(`status ${status}: ${stderr}`);
  return JSON.parse(stdout);
}

export interface Folder {
  readonly path: string;
  remove(): void;
}

export function temporaryFolder(): Folder {
  const path = mkdtempSync(join(tmpdir(), 'lingate-cli-'));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}
