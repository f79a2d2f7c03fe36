// A gateway in a process of its own, started from the command line as an operator does.
import type { ChildProcess } from 'node:child_process';
import { bareEnvironment } from './compile-cache.ts';
import { MAIN } from './lingate-command.ts';
import { launch } from './start-program.ts';

const READY = /(https?:\/\/[^ ",]+:(\d+)), ops on (http:\/\/[^ ",]+:(\d+))/;

export interface GatewayProcess {
  readonly process: ChildProcess;
  readonly url: string;
  readonly port: number;
  readonly opsUrl: string;
  /** Its output so far. */
  output(): string;
  /** Sends the signal and waits for the end; returns the exit status, or the signal that ended it. */
  end(signal: NodeJS.Signals): Promise<number | NodeJS.Signals>;
}

interface GatewayProcessOptions {
  readonly args: readonly string[];
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** The entry to run instead of this checkout's. */
  readonly main?: string;
}

/** Resolves when it is ready; rejects with its output if it ends before that. */
export async function startGatewayProcess({ args, cwd, env = {}, main = MAIN }: GatewayProcessOptions): Promise<GatewayProcess> {
  const program = launch('node', [main, ...args], {
    ...(cwd === undefined ? {} : { cwd }),
    env: { ...bareEnvironment(), ...env },
  });
  let output = '';
  for (const stream of [program.child.stdout, program.child.stderr]) stream?.on('data', (chunk: Buffer) => (output += chunk.toString()));
  await program.until(READY);
  const match = READY.exec(output)!;
  return {
    process: program.child,
    url: match[1]!,
    port: Number(match[2]),
    opsUrl: match[3]!,
    output: () => output,
    async end(signal) {
      program.child.kill(signal);
      const { status, signal: endedBy } = await program.ended;
      return status ?? endedBy!;
    },
  };
}
