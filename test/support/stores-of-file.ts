// Both of the project's stores for the tests of a file: a database and a redis-server, which are closed and removed after them.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import type { EventRules } from '../../src/domain/event-rules.ts';
import type { Clock } from '../../src/ports/clock.ts';
import type { Store } from '../../src/ports/store.ts';
import { openRedisStore, openSqliteStore } from './door/stores.ts';
import { startRedis } from './redis.ts';
import { SILENT } from './silent-log.ts';

export interface StoreKind {
  readonly name: 'SQLite' | 'Redis';
  readonly url: string;
  /** Another instance with each call, on the same backing; it is closed after the tests. */
  readonly open: (clock: Clock, events?: EventRules) => Promise<Store>;
}

interface StoresOfFile {
  readonly directory: string;
  readonly kinds: readonly StoreKind[];
}

/** Call it once in a file, before its tests. */
export async function storesOfFile(): Promise<StoresOfFile> {
  const directory = mkdtempSync(join(tmpdir(), 'lingate-stores-'));
  const server = await startRedis();
  const opened: Store[] = [];
  afterAll(async () => {
    for (const store of opened) await store.close();
    await server.stop();
    rmSync(directory, { recursive: true });
  });
  const kept = async (opening: Promise<Store>): Promise<Store> => {
    const store = await opening;
    opened.push(store);
    return store;
  };
  const path = join(directory, 'lingate.db');
  return {
    directory,
    kinds: [
      {
        name: 'SQLite',
        url: `sqlite:${path}`,
        open: (clock, events) => kept(openSqliteStore({ path, log: SILENT, clock, durability: 'normal', commandTimeoutMs: 5000, events })),
      },
      {
        name: 'Redis',
        url: server.url,
        open: (clock, events) => kept(openRedisStore({ url: server.url, log: SILENT, clock, commandTimeoutMs: 5000, events })),
      },
    ],
  };
}
