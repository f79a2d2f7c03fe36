// A Redis server that keeps what it has acknowledged, and survives its own death.
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startRedis } from '../../support/redis.ts';

/** As operators run it. */
export const DURABLE: readonly string[] = ['--appendonly', 'yes', '--appendfsync', 'everysec'];

export interface DurableRedis {
  readonly url: string;
  readonly port: number;
  /** SIGKILL; resolves when it is gone. */
  kill(): Promise<void>;
  /** Restarts it on the same port, with what it has stored. */
  restart(): Promise<void>;
  freeze(): void;
  thaw(): void;
  stop(): Promise<void>;
}

export async function startDurableRedis(): Promise<DurableRedis> {
  const directory = await mkdtemp(join(tmpdir(), 'lingate-durable-'));
  const all = ['--dir', directory, ...DURABLE];
  let server = await startRedis(all);
  const { port, url } = server;
  return {
    url,
    port,
    async kill() {
      const exited = once(server.process, 'exit');
      server.process.kill('SIGKILL');
      await exited;
    },
    async restart() {
      await server.stop().catch(() => undefined);
      server = await startRedis([...all, '--port', String(port)]);
    },
    freeze: () => void server.process.kill('SIGSTOP'),
    thaw: () => void server.process.kill('SIGCONT'),
    async stop() {
      await server.stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
