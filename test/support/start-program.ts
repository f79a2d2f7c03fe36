// The one place where tests, benches and evidence start programs: by their names in the table, with time limits, and killed when we exit.
import { spawn } from 'node:child_process';
import type { StdioOptions } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import process from 'node:process';
import type { Readable } from 'node:stream';
import { PROGRAMS } from './programs.ts';
import type { Command, Need, ProgramName } from './programs.ts';
import { Program } from './started-program.ts';
import type { Ending, Readiness } from './started-program.ts';

const BUILT_IN =
  'break case cd command continue do done echo elif else esac eval exec exit export false fi for hash if jobs kill printf pwd read return set shift test then trap true ulimit umask unset until wait while [ : . ! { }';
const NO_PROGRAM = new Set(BUILT_IN.split(' '));
/** A command follows these. */
const GO_ON = new Set('command do elif else exec if then until while ! {'.split(' '));

/** Names in order of first use. Quoted names and those from variables are not found: those are for `"$@"`. */
function programsIn(text: string): string[] {
  /** Commands whose output a text in double quotes has. */
  const inside: string[] = [];
  const bare = text
    .replaceAll(/\\\n/g, ' ')
    .replaceAll(/<<'?(\w+)'?\n[\s\S]*?^\1$/gm, ' ')
    .replaceAll(/'[^']*'|"(?:[^"\\$]|\\.|\$\([^()]*\)|\$(?!\())*"/g, (quoted) => {
      if (quoted.startsWith('"')) inside.push(...(quoted.match(/\$\([^()]*\)/g) ?? []));
      return '""';
    })
    .replaceAll(/\d*[<>]+&?\s*\S+/g, ' ')
    .replaceAll(/#.*$/gm, '');
  const commands = [bare, ...inside]
    .join('\n')
    .split(/&&|\|\||\$\(|[;|&\n()`]/)
    .map((command) => firstWord(command.trim().split(/\s+/)));
  return [...new Set(commands.filter((name) => /^[\w./[-]+$/.test(name) && !NO_PROGRAM.has(name)))];
}

function firstWord(words: readonly string[]): string {
  const at = words.findIndex((word) => !GO_ON.has(word) && !/^\w+=/.test(word));
  return words[at] ?? '';
}

/** The Node that runs us. */
export const OWN_NODE = 'node';
/** What `test/kubernetes/chart-tools.ts` installs with npm, and puts first into the PATH of what it starts. */
export const FROM_NPM = ['helm', 'kubectl'] as const;
/** Programs without a row in the table: nobody gets this far without them. All but Node are found by the PATH. */
const OWN = [OWN_NODE, 'npm', 'npx', 'lingate', ...FROM_NPM] as const;
type Own = (typeof OWN)[number];
export type Startable = ProgramName | Own;

export interface StartOptions {
  readonly cwd?: string;
  /** The whole environment; by default ours. */
  readonly env?: NodeJS.ProcessEnv;
  /** By default output and errors come through pipes, and there is no input. */
  readonly stdio?: StdioOptions;
  /** Its standard input. */
  readonly input?: string;
  /** What this program starts in turn: a shell, taskset, strace. */
  readonly uses?: readonly Startable[];
}

export interface Ended extends Ending {
  readonly stdout: string;
  readonly stderr: string;
}

/** Set for a run of vitest: the npm script whose programs may be started. */
export const COMMAND_VARIABLE = 'LINGATE_TEST_COMMAND';

const SHOWN_MAX = 1000;
const RUN_MS_MAX = 60_000;

/** Resolves when it is ready. Rejects, with its name, as soon as it cannot be started or ends early, and if it takes too long. */
export async function startProgram(
  name: Startable,
  args: readonly string[],
  options: StartOptions & { readonly ready: Readiness; readonly readyMsMax?: number },
): Promise<Program> {
  const program = launch(name, args, options);
  try {
    await program.until(options.ready, options.readyMsMax);
  } catch (error) {
    await program.end();
    throw error;
  }
  return program;
}

/** Runs it to its end, whatever its status. Rejects, with its name, if it cannot be started or takes too long: then it is killed. */
export async function runProgram(
  name: Startable,
  args: readonly string[],
  options: StartOptions & { readonly msMax?: number } = {},
): Promise<Ended> {
  const program = launch(name, args, options);
  const [stdout, stderr] = [gather(program.child.stdout), gather(program.child.stderr)];
  const { msMax = RUN_MS_MAX } = options;
  let cut = false;
  const timer = setTimeout(() => {
    cut = true;
    void program.end();
  }, msMax);
  const ending = await program.ended;
  clearTimeout(timer);
  if (cut) throw program.fault(`did not end within ${msMax / 1000} s`);
  if (program.failure !== undefined) throw program.fault('could not be started');
  return { ...ending, stdout: stdout(), stderr: stderr() };
}

/** Its standard output. Rejects, with its name and errors, unless it ends with status 0. */
export async function outputOf(
  name: Startable,
  args: readonly string[],
  options: StartOptions & { readonly msMax?: number } = {},
): Promise<string> {
  const { status, signal, stdout, stderr } = await runProgram(name, args, options);
  if (status === 0) return stdout;
  throw new Error(`${titleOf(name)} ended with ${status ?? signal}; it said: ${(stdout + stderr).slice(-SHOWN_MAX).trim()}`);
}

/** Starts it without waiting. Throws, with its name, if it is not installed. */
export function launch(name: Startable, args: readonly string[], options: StartOptions = {}): Program {
  const { cwd, env = process.env, input, stdio = [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'], uses = [] } = options;
  for (const each of [name, ...uses]) expectThere(each);
  if ([name, ...uses].includes('sh')) expectDeclared(args, uses);
  // A process group of its own, which can be killed as a whole.
  const program = new Program(
    titleOf(name),
    spawn(fileOf(name), args, { ...(cwd === undefined ? {} : { cwd }), env, stdio, detached: true }),
  );
  if (input !== undefined) program.child.stdin?.end(input);
  return program;
}

/** The path of a program. */
export function fileOf(name: Startable): string {
  if (name === OWN_NODE) return process.execPath;
  return isOwn(name) ? name : PROGRAMS[name].file;
}

/** Whether it could be started, for callers that can do without it. */
export function isThere(name: ProgramName): boolean {
  try {
    accessSync(fileOf(name), constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function isOwn(name: Startable): name is Own {
  return OWN.some((own) => own === name);
}

function titleOf(name: Startable): string {
  if (name === OWN_NODE) return 'a program of our own';
  return isOwn(name) ? name : `${name} (Debian package ${PROGRAMS[name].package})`;
}

function expectThere(name: Startable): void {
  if (isOwn(name)) return;
  const need: Need = PROGRAMS[name];
  const command = process.env[COMMAND_VARIABLE];
  if (command !== undefined && !need.for.includes(command as Command)) {
    throw new Error(`${name} is started in ${command}, for which test/support/programs.ts does not list it`);
  }
  if (!isThere(name)) throw new Error(`${name} cannot be started: there is no ${need.file}; install the Debian package ${need.package}`);
}

function expectDeclared(args: readonly string[], uses: readonly string[]): void {
  const text = args[args.findIndex((arg) => /^-\w*c$/.test(arg)) + 1] ?? '';
  const undeclared = programsIn(text).filter((name) => !uses.includes(name));
  if (undeclared.length > 0) throw new Error(`a shell would start ${undeclared.join(', ')}, which are not declared in 'uses'`);
}

function gather(stream: Readable | null): () => string {
  const chunks: Buffer[] = [];
  stream?.on('data', (chunk: Buffer) => chunks.push(chunk));
  return () => Buffer.concat(chunks).toString();
}
