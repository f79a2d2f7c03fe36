// An engine in its own process, so that it can be killed, frozen and restarted on the same port.
import { fileURLToPath } from 'node:url';
import { startProgram } from '../../support/start-program.ts';

interface EngineProcess {
  readonly url: string;
  readonly port: number;
  signal(signal: 'SIGSTOP' | 'SIGCONT'): void;
  /** SIGKILL; resolves when it is gone. */
  kill(): Promise<void>;
}

const MAIN = fileURLToPath(new URL('engine-main.ts', import.meta.url));
const READY = /^port (\d+)$/m;

export async function startEngineProcess(port = 0): Promise<EngineProcess> {
  const program = await startProgram('node', [MAIN, String(port)], { stdio: ['ignore', 'pipe', 'inherit'], ready: READY });
  const taken = Number(READY.exec(program.output)![1]);
  return {
    url: `http://127.0.0.1:${taken}`,
    port: taken,
    signal: (signal) => void program.child.kill(signal),
    async kill() {
      await program.end();
    },
  };
}
