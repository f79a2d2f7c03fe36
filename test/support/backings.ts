// What the project's own stores are opened on in tests: a file in a directory of its own, a redis-server of its own.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { JudgedClock, openRedisStore, openSqliteStore } from './door/stores.ts';
import type { PluginStore } from '../../src/ports/plugin.ts';
import { promisedStore } from './promised-store.ts';
import { startRedis } from './redis.ts';
import { SILENT } from './silent-log.ts';
import type { SteppingClock } from './stepping-clock.ts';
import type { OpenStore } from '../../src/testing/store-contract.ts';

/** Every call of `open` returns another instance on the same backing; call `remove` after all of them are closed. */
export interface JudgingBacking {
  readonly url: string;
  readonly open: OpenStore;
  /** A store whose clock is judged. */
  openJudging(machine: SteppingClock): Promise<PluginStore>;
  remove(): Promise<void>;
}

// Generous: other tests may use both cores, and late answers are not tested here.
const TIMEOUT_MS = 5000;

/** `normal` saves an fsync per operation, if power cuts are not tested. */
export async function sqliteBacking(durability: 'full' | 'normal' = 'full'): Promise<JudgingBacking> {
  const directory = mkdtempSync(join(tmpdir(), 'lingate-sqlite-'));
  const path = join(directory, 'lingate.db');
  const open: OpenStore = async (clock) =>
    promisedStore(await openSqliteStore({ path, log: SILENT, clock, durability, commandTimeoutMs: TIMEOUT_MS }));
  return {
    url: `sqlite:${path}`,
    open,
    openJudging: judgedBy(open),
    remove: async () => rmSync(directory, { recursive: true, force: true }),
  };
}

export async function redisBacking(): Promise<JudgingBacking> {
  const server = await startRedis();
  const open: OpenStore = async (clock) =>
    promisedStore(await openRedisStore({ url: server.url, log: SILENT, clock, commandTimeoutMs: TIMEOUT_MS }));
  return {
    url: server.url,
    open,
    openJudging: judgedBy(open),
    remove: () => server.stop(),
  };
}

/** The store is given the machine's time, as a process judges it. */
function judgedBy(open: OpenStore): JudgingBacking['openJudging'] {
  return (machine) => {
    const clock = new JudgedClock(machine);
    machine.watches.push(() => void clock.nowMs());
    return open(clock);
  };
}
