// A gateway as a process of its own, started from the command line as an operator does.
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import process from 'node:process';
import { fileURLToPath } from 'node:url';

const MAIN = fileURLToPath(new URL('../../src/lingate.js', import.meta.url));
const READY = /(https?:\/\/[^ ",]+:(\d+)), ops on (http:\/\/[^ ",]+:(\d+))/;

export interface GatewayProcess {
  readonly process: ChildProcess;
  readonly url: string;
  readonly port: number;
  readonly opsUrl: string;
  /** What it has printed so far. */
  output(): string;
  /** Sends the signal and waits for the end; the exit status, or the signal that ended it. */
  end(signal: NodeJS.Signals): Promise<number | NodeJS.Signals>;
}

export interface GatewayProcessOptions {
  readonly args: readonly string[];
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** What is run instead of this checkout's entry. */
  readonly main?: string;
}

/** Resolves when it is ready; rejects with what it printed when it ends before that. */
export async function startGatewayProcess({ args, cwd, env = {}, main = MAIN }: GatewayProcessOptions): Promise<GatewayProcess> {
  const child = spawn(process.execPath, [main, ...args], {
    ...(cwd === undefined ? {} : { cwd }),
    env: { PATH: process.env['PATH'] ?? '', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  // A test that fails may never come to its end of the process.
  const kill = (): void => void child.kill('SIGKILL');
  process.once('exit', kill);
  child.once('close', () => process.removeListener('exit', kill));
  let output = '';
  const ready = Promise.withResolvers<RegExpExecArray>();
  const take = (chunk: Buffer): void => {
    output += chunk.toString();
    const match = READY.exec(output);
    if (match !== null) ready.resolve(match);
  };
  child.stdout.on('data', take);
  child.stderr.on('data', take);
  const ended = once(child, 'close') as Promise<[status: number | null, signal: NodeJS.Signals | null]>;
  void ended.then(([status]) => ready.reject(new Error(`lingate ended with ${status}: ${output}`)));
  const match = await ready.promise;
  return {
    process: child,
    url: match[1]!,
    port: Number(match[2]),
    opsUrl: match[3]!,
    output: () => output,
    async end(signal) {
      child.kill(signal);
      const [status, endedBy] = await ended;
      return status ?? endedBy!;
    },
  };
}
