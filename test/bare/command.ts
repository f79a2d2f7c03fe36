// Runs a program of the table under a limit of time, keeping all that it prints and showing it as it comes.
import process from 'node:process';
import { launch } from '../support/start-program.ts';
import type { Startable } from '../support/start-program.ts';
import type { Program } from '../support/started-program.ts';

interface CommandOptions {
  readonly limitMs: number;
  readonly cwd?: string;
  /** The whole environment; this process's own where it is left out. */
  readonly env?: Readonly<Record<string, string>>;
  /** Programs that it starts in its turn. */
  readonly uses?: readonly Startable[];
  /** What is shown of its output as it comes; everything is recorded all the same. */
  readonly show?: (text: string) => void;
}

export interface Ran {
  /** `undefined` when it was killed, by its limit or by a signal. */
  readonly status: number | undefined;
  /** Standard output and standard error as they came. */
  readonly output: string;
  /** Why there is no status, in words for a person. */
  readonly killed?: string;
}

/** A program under way. Its standard input stays open until `ran` or somebody else closes it. */
export interface Running {
  readonly program: Program;
  readonly ended: Promise<Ran>;
  /** Everything that it has printed so far. */
  output(): string;
  /** SIGTERM to all of it, and SIGKILL to what is left after a while. */
  kill(why: string): void;
}

/** For a suite to say which test was running, and for a run in a run to remove what it has made. */
const GRACE_MS = 20_000;

/** Throws, by name, when the program is not there. */
export function start(name: Startable, args: readonly string[], { limitMs, show, ...options }: CommandOptions): Running {
  const program = launch(name, args, { ...options, stdio: ['pipe', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [program.child.stdout, program.child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      output += text;
      show?.(text);
    });
  }
  let why: string | undefined;
  let over = false;
  let grace: NodeJS.Timeout | undefined;
  const kill = (reason: string): void => {
    if (over) return;
    why ??= reason;
    signalGroup(program, 'SIGTERM');
    grace ??= setTimeout(() => program.kill(), GRACE_MS);
  };
  const limit = setTimeout(kill, limitMs, `stopped after its limit of ${Math.round(limitMs / 1000)} s`);
  const ended = program.ended.then(({ status, signal }): Ran => {
    over = true;
    clearTimeout(limit);
    clearTimeout(grace);
    if (why === undefined && status !== null) return { status, output };
    return { status: undefined, output, killed: why ?? program.failure?.message ?? `ended by ${signal}` };
  });
  return { program, ended, output: () => output, kill };
}

function signalGroup({ pid }: Program, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal);
  } catch {
    // All of it has ended in between.
  }
}

/** Waits for the end of what was started, with nothing more on its standard input. */
export function atEnd(running: Running): Promise<Ran> {
  running.program.child.stdin?.end();
  return running.ended;
}

export function run(name: Startable, args: readonly string[], options: CommandOptions): Promise<Ran> {
  return atEnd(start(name, args, options));
}

/** As `run`, but anything other than status 0 is an error with the end of what it printed. */
export async function mustRun(name: Startable, args: readonly string[], options: CommandOptions): Promise<string> {
  return expectPassed([name, ...args].join(' '), await run(name, args, options));
}

/** What it printed; an error unless it ended with status 0. */
export function expectPassed(what: string, { status, output, killed }: Ran): string {
  if (status === 0) return output;
  throw new Error(`${what}: ${killed ?? `status ${status}`}\n${output.slice(-4000)}`);
}
