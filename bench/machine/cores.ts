// Which core is the gateway's and which are everybody else's, and how a program is started on its own.
import { spawn, spawnSync } from 'node:child_process';
import type { ChildProcess, StdioOptions } from 'node:child_process';
import { availableParallelism } from 'node:os';
import process from 'node:process';

/** In the notation of taskset. */
export interface Cores {
  readonly gateway: string;
  readonly others: string;
}

/** Throws when there is no core to spare: gateway and load on one core would measure each other. */
export function chooseCores(): Cores {
  const count = availableParallelism();
  if (count < 2) throw new Error(`the bench needs two cores or more; there is ${count}`);
  if (spawnSync('taskset', ['-c', '0', 'true']).status !== 0) {
    throw new Error('taskset cannot pin a program to core 0: install util-linux, and run where core 0 is allowed');
  }
  return { gateway: '0', others: count === 2 ? '1' : `1-${count - 1}` };
}

export interface PinnedOptions {
  readonly cores: string;
  readonly stdio: StdioOptions;
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** taskset becomes the program: the process id is the program's own. It is killed when we end. */
export function startPinned(program: string, args: readonly string[], options: PinnedOptions): ChildProcess {
  const child = spawn('taskset', ['-c', options.cores, program, ...args], {
    stdio: options.stdio,
    env: { PATH: process.env['PATH'] ?? '/usr/bin:/bin', ...options.env },
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
  });
  running.add(child);
  child.once('exit', () => running.delete(child));
  return child;
}

const running = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
