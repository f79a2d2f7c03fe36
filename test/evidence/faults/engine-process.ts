// An engine that runs as a process of its own, so that it can be killed, frozen and started again where it was.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import process from 'node:process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

export interface EngineProcess {
  readonly url: string;
  readonly port: number;
  signal(signal: 'SIGSTOP' | 'SIGCONT'): void;
  /** SIGKILL; resolves when it is gone. */
  kill(): Promise<void>;
}

const MAIN = fileURLToPath(new URL('engine-main.ts', import.meta.url));

export async function startEngineProcess(port = 0): Promise<EngineProcess> {
  const child = spawn(process.execPath, [MAIN, String(port)], { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(child, 'exit');
  const lines = createInterface({ input: child.stdout });
  const [line] = (await Promise.race([once(lines, 'line'), ended.then(() => ['it ended'])])) as [string];
  const taken = /^port (\d+)$/.exec(line)?.[1];
  if (taken === undefined) throw new Error(`the engine did not start: ${line}`);
  return {
    url: `http://127.0.0.1:${taken}`,
    port: Number(taken),
    signal: (signal) => void child.kill(signal),
    async kill() {
      child.kill('SIGKILL');
      await ended;
    },
  };
}
