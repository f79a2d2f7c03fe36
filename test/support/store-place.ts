// Where a store of either kind lies in a test, and the connection to it that is the test's own.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Clock } from '../../src/ports/clock.ts';
import type { Store } from '../../src/ports/store.ts';
import { openStore } from '../../src/stores/open.ts';
import { startRedis } from './redis.ts';
import type { RedisServer } from './redis.ts';
import { SILENT } from './silent-log.ts';

export interface StorePlace {
  readonly url: string;
  /** Of the test's own, for more than the store. */
  readonly folder: string;
  /** Where the store is in Redis. */
  readonly redis: RedisServer | undefined;
  /** Comes after everything that is open on it is closed. */
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
/** What a test prepares or looks at waits for a busy disk; only what the gateway does itself is under its deadline. */
const PATIENCE_MS = 5000;

/** What the command line would use, besides the gateway. */
export function openBeside(url: string, clock = WALL_CLOCK): Promise<Store> {
  return openStore(url, { log: SILENT, clock, commandTimeoutMs: PATIENCE_MS });
}
