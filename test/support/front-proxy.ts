// HAProxy or nginx as a front proxy, on a free port, with a test's own configuration.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from './free-port.ts';
import { startProgram } from './start-program.ts';

export interface Front {
  readonly port: number;
  stop(): Promise<void>;
}

export type FrontKind = 'haproxy' | 'nginx';

const ARGS: Readonly<Record<FrontKind, (file: string, folder: string) => string[]>> = {
  haproxy: (file) => ['-db', '-f', file],
  nginx: (file, folder) => ['-p', folder, '-e', join(folder, 'error.log'), '-c', file],
};

/** Resolves when it accepts connections. */
export async function startFrontProxy(kind: FrontKind, configOf: (port: number, folder: string) => string): Promise<Front> {
  const folder = await mkdtemp(join(tmpdir(), `lingate-${kind}-`));
  const file = join(folder, 'front.conf');
  const port = await freePort();
  await writeFile(file, configOf(port, folder));
  const program = await startProgram(kind, ARGS[kind](file, folder), { ready: () => accepts(port) });
  return {
    port,
    async stop() {
      program.child.kill('SIGTERM');
      await program.ended;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function accepts(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  return new Promise((resolve) => {
    const done = (accepted: boolean) => (): void => {
      socket.destroy();
      resolve(accepted);
    };
    socket.once('connect', done(true));
    socket.once('error', done(false));
  });
}
