// Starts a contestant's programs: pinned, with output to a file, ready when they listen, killed when the bench stops.
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Startable } from '../../test/support/start-program.ts';
import { startPinned } from '../machine/cores.ts';
import { freePort } from '../../test/support/free-port.ts';
import { portTold, untilListening } from '../machine/until-listening.ts';

const SERVERS = fileURLToPath(new URL('../servers/', import.meta.url));
const STOP_MS = 5000;

export interface Program {
  readonly port: number;
  readonly pid: number;
  readonly stop: () => Promise<void>;
}

interface ProgramOptions {
  readonly cores: string;
  /** Or the port that its output names: a free port that was chosen first might be taken by then. */
  readonly port: number | RegExp;
  readonly folder: string;
  /** Names its output file, and appears in messages. */
  readonly name: string;
  readonly env?: Readonly<Record<string, string>>;
  /** The file to run instead of the program's own. */
  readonly file?: string;
}

/** Output goes to a file: the cost of an access log is part of the measurement. */
export async function startProgram(program: Startable, args: readonly string[], options: ProgramOptions): Promise<Program> {
  const { cores, port, folder, name, env = {} } = options;
  const written = join(folder, `${name}.log`);
  const output = openSync(written, 'a');
  // From an earlier start with the same name.
  const writtenBefore = fstatSync(output).size;
  const child = startPinned(program, args, {
    cores,
    stdio: ['ignore', output, output],
    cwd: folder,
    env,
    ...(options.file === undefined ? {} : { file: options.file }),
  });
  closeSync(output);
  try {
    if (typeof port === 'number') await untilListening(port, child, name);
    const taken = typeof port === 'number' ? port : await portTold(port, written, writtenBefore, child, name);
    return { port: taken, pid: child.pid!, stop: () => stop(child) };
  } catch (error) {
    await stop(child);
    const reason = error instanceof Error ? error.message : 'it did not start';
    throw new Error(`${reason}; it said: ${readFileSync(written, 'utf8').slice(-600).trim()}`, { cause: error });
  }
}

/** A program of the bench's own, from `bench/servers`. */
export async function startServer(
  file: string,
  cores: string,
  folder: string,
  numbers: Readonly<Record<string, number>>,
  env: Readonly<Record<string, string>> = {},
): Promise<Program> {
  const port = await freePort();
  const args = Object.entries({ ...numbers, port }).flatMap(([name, value]) => [`--${name}`, String(value)]);
  return startProgram('node', [join(SERVERS, file), ...args], { cores, port, folder, name: file, env });
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  const hard = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
  await ended;
  clearTimeout(hard);
}
