// A Redis server that keeps everything it ever wrote, survives its own death, and provides its journal.
import { rm } from 'node:fs/promises';
import { once } from 'node:events';
import { Redis } from 'ioredis';
import { expect } from 'vitest';
import { startRedis } from '../../../support/redis.ts';
import type { Operation } from '../../../support/history.ts';
import { JOURNALLED } from './aof-file.ts';
import { memoryFolder } from './memory-folder.ts';
import { groupKey } from '../../../support/door/stores.ts';
import { isOpen, redisJournal } from './redis-journal.ts';

export interface JournalledRedis {
  readonly url: string;
  readonly port: number;
  /** SIGKILL; resolves when it is gone. */
  kill(): Promise<void>;
  /** Restarts it on the same port, with what it has kept. */
  restart(): Promise<void>;
  freeze(): void;
  thaw(): void;
  readonly journal: () => Operation[];
  /** Records of open reservations in it, ended leases included. */
  readonly recordsLeft: (teamId: string) => Promise<number>;
  stop(): Promise<void>;
}

export async function startJournalledRedis(args: readonly string[] = []): Promise<JournalledRedis> {
  // With `everysec`, a disk that is busy syncing lets a server answer seconds before it writes: a kill would lose that.
  const directory = await memoryFolder('lingate-journal-');
  const all = ['--dir', directory, ...JOURNALLED, ...args];
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
    journal: () => redisJournal(directory),
    recordsLeft: (teamId) => recordsLeft(port, teamId),
    async stop() {
      await server.stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** The file of the node at this port, once everything that it has done so far is in it. */
export async function recordsLeft(port: number, teamId: string): Promise<number> {
  const client = new Redis(port, '127.0.0.1', { protocol: 2 });
  try {
    await expect.poll(() => client.info('persistence')).toMatch(/^aof_buffer_length:0\r?$/m);
    const fields = await client.hkeys(groupKey(teamId));
    return fields.filter(isOpen).length;
  } finally {
    client.disconnect();
  }
}
