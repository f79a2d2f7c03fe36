// Which core is the gateway's and which are for everything else, and how a program is pinned.
import type { ChildProcess, StdioOptions } from 'node:child_process';
import { availableParallelism } from 'node:os';
import process from 'node:process';
import { fileOf, launch, runProgram } from '../../test/support/start-program.ts';
import type { Startable } from '../../test/support/start-program.ts';

/** In the notation of taskset. */
export interface Cores {
  readonly gateway: string;
  readonly others: string;
}

/** Throws if there is no spare core: gateway and load on one core would measure each other. */
export async function chooseCores(): Promise<Cores> {
  const count = availableParallelism();
  if (count < 2) throw new Error(`the bench needs two cores or more; this machine has ${count}`);
  if ((await runProgram('taskset', ['-c', '0', 'true'], { uses: ['true'] })).status !== 0) {
    throw new Error('taskset cannot pin a program to core 0: run where core 0 is allowed');
  }
  return { gateway: '0', others: count === 2 ? '1' : `1-${count - 1}` };
}

interface PinnedOptions {
  readonly cores: string;
  readonly stdio: StdioOptions;
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** The file to run instead of the program's own. */
  readonly file?: string;
}

/** taskset becomes the program: the process id is the program's own. It is killed when we exit. */
export function startPinned(program: Startable, args: readonly string[], options: PinnedOptions): ChildProcess {
  const { cores, stdio, cwd, env, file = fileOf(program) } = options;
  return launch('taskset', ['-c', cores, file, ...args], {
    stdio,
    env: { PATH: process.env['PATH'] ?? '/usr/bin:/bin', ...env },
    ...(cwd === undefined ? {} : { cwd }),
    uses: [program],
  }).child;
}
