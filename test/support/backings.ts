// What the project's own stores are opened on in tests: memory, a file in a directory of its own, a redis-server of its own.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openRedisStore } from '../../src/stores/redis/redis-store.ts';
import { openSqliteStore } from '../../src/stores/sqlite/sqlite-store.ts';
import { emptyData, referenceStore } from '../../config/examples/reference-store.ts';
import { promisedStore } from './promised-store.ts';
import { startRedis } from './redis.ts';
import { SILENT } from './silent-log.ts';
import type { OpenStore } from '../../src/testing/store-contract.ts';

/** Every call of `open` returns another instance on the same backing; call `remove` after all of them are closed. */
export interface Backing {
  readonly open: OpenStore;
  remove(): Promise<void>;
}

// Generous: other tests may use both cores, and late answers are not tested here.
const TIMEOUT_MS = 5000;

export async function modelBacking(): Promise<Backing> {
  const data = emptyData();
  return { open: async (clock) => referenceStore(clock, data), remove: async () => {} };
}

/** `normal` saves an fsync per operation, if power cuts are not tested. */
export async function sqliteBacking(durability: 'full' | 'normal' = 'full'): Promise<Backing> {
  const directory = mkdtempSync(join(tmpdir(), 'lingate-sqlite-'));
  const path = join(directory, 'lingate.db');
  return {
    open: async (clock) => promisedStore(await openSqliteStore({ path, log: SILENT, clock, durability, busyTimeoutMs: TIMEOUT_MS })),
    remove: async () => rmSync(directory, { recursive: true, force: true }),
  };
}

export async function redisBacking(): Promise<Backing> {
  const server = await startRedis();
  return {
    open: async (clock) => promisedStore(await openRedisStore({ url: server.url, log: SILENT, clock, commandTimeoutMs: TIMEOUT_MS })),
    remove: () => server.stop(),
  };
}
