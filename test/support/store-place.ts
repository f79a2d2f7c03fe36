// The location of a test's store of either kind, and the test's own connection to it.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Clock } from '../../src/ports/clock.ts';
import type { Store } from '../../src/ports/store.ts';
import type { SqliteStoreOptions } from '../../src/stores/sqlite/sqlite-store.ts';
import { openRedisStore, openSqliteStore, openStore } from './door/stores.ts';
import { startRedis } from './redis.ts';
import type { RedisServer } from './redis.ts';
import { SILENT } from './silent-log.ts';

export interface StorePlace {
  readonly url: string;
  /** The test's own client, for more than the store. */
  readonly folder: string;
  /** The store's address in Redis. */
  readonly redis: RedisServer | undefined;
  /** Call it after everything that is open on the store is closed. */
  remove(): Promise<void>;
}

/** A file in a folder of its own, or a redis-server of its own. */
export async function storePlace(kind: 'sqlite' | 'redis'): Promise<StorePlace> {
  const folder = await mkdtemp(join(tmpdir(), 'lingate-place-'));
  const redis = kind === 'redis' ? await startRedis() : undefined;
  return {
    url: redis?.url ?? `sqlite:${folder}/lingate.db`,
    folder,
    redis,
    async remove() {
      await redis?.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

const WALL_CLOCK: Clock = { nowMs: () => Date.now() };
/** The test's own operations may wait for a busy disk; only the gateway's are under its deadline. */
const PATIENCE_MS = 5000;

/** Another connection, as the command line would open. */
export function openBeside(url: string, clock = WALL_CLOCK): Promise<Store> {
  return openStore(url, { log: SILENT, clock, commandTimeoutMs: PATIENCE_MS });
}

/** A store of either kind that goes by this clock: Redis otherwise has its own. */
export function openBy(clock: Clock, url: string, more: Pick<SqliteStoreOptions, 'durability' | 'events'> = {}): Promise<Store> {
  const options = { log: SILENT, clock, commandTimeoutMs: PATIENCE_MS, ...more };
  if (!url.startsWith('sqlite:')) return openRedisStore({ ...options, url });
  return openSqliteStore({ ...options, path: url.slice('sqlite:'.length) });
}
