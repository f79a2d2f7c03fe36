// How much memory a store takes for a team and for a remembered id: created, measured, forgotten, measured again.
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as pause } from 'node:timers/promises';
import { digestOf, displayOf } from '../../src/domain/api-key.ts';
import { limitsOf } from '../../src/domain/plan.ts';
import { REMEMBER_MS } from '../../src/domain/reservation.ts';
import { answered } from '../../src/domain/store-unavailable.ts';
import { ulidSource } from '../../src/domain/ulid.ts';
import type { Store } from '../../src/ports/store.ts';
import { openStore } from '../../src/stores/open.ts';
import { promisedLedger } from '../../test/support/promised-store.ts';
import { benchKeys } from '../contestants/keys.ts';
import { BENCH_PLAN } from '../contestants/lingate-teams.ts';
import { startRedis, withRedis } from '../contestants/redis.ts';
import type { Arena } from './arena.ts';
import type { Progress } from './bench.ts';
import type { StoreMemory } from './results.ts';

const SILENT = { info: () => undefined, warn: () => undefined, error: () => undefined };
const IDS_PER_TEAM = 20;
const AT_ONCE = 256;
/** How long after the last id is due a store has for clearing up in the background. */
const CLEARING_MS = 20_000;
const LOOK_MS = 1000;

interface Measured {
  readonly name: string;
  readonly url: string;
  readonly bytes: () => Promise<number>;
  readonly stop: () => Promise<void>;
}

/** Both stores at the same time, because they mostly wait. */
export async function storeMemory(arena: Arena, teams: number, progress: Progress): Promise<StoreMemory[]> {
  progress(`memory of ${teams} teams and ${teams * IDS_PER_TEAM} ids in each store`);
  const measured = await Promise.all([onRedis(arena), onSqlite(arena)]);
  try {
    return await Promise.all(measured.map((store) => measure(store, teams)));
  } finally {
    await Promise.all(measured.map(({ stop }) => stop()));
  }
}

async function measure({ name, url, bytes }: Measured, teams: number): Promise<StoreMemory> {
  const store = await openStore(url, {
    log: SILENT,
    clock: { nowMs: () => Date.now() },
    sqliteDurability: 'normal',
    commandTimeoutMs: 10_000,
  });
  try {
    const empty = await bytes();
    const keys = await makeTeams(store, teams);
    const made = await bytes();
    await useTeams(store, keys);
    const used = await bytes();
    let left = await bytes();
    const until = performance.now() + REMEMBER_MS + CLEARING_MS;
    while (left > made && performance.now() < until) {
      await pause(LOOK_MS);
      left = Math.min(left, await bytes());
    }
    return {
      store: name,
      perTeam: (made - empty) / teams,
      perId: (used - made) / (teams * IDS_PER_TEAM),
      leftPerTeam: (left - made) / teams,
    };
  } finally {
    await store.close();
  }
}

interface Used {
  readonly teamId: string;
  readonly keyId: string;
}

const newId = ulidSource(() => Date.now());

async function makeTeams({ teams }: Store, count: number): Promise<Used[]> {
  const limits = limitsOf(BENCH_PLAN);
  return inTurns(benchKeys(count), async (key) => {
    const [teamId, keyId] = [newId(), newId()];
    answered(await teams.createTeam({ teamId, name: 'Bench', plan: 'bench', limits, balanceMicro: 0 }));
    answered(await teams.createKey({ keyId, teamId, digest: digestOf(key), display: displayOf(key), label: 'bench', mode: 'live' }));
    return { teamId, keyId };
  });
}

async function useTeams(store: Store, keys: readonly Used[]): Promise<void> {
  const ledger = promisedLedger(store.ledger);
  const uses = Array.from({ length: IDS_PER_TEAM }, () => keys).flat();
  await inTurns(uses, async ({ teamId, keyId }) => {
    const requestId = newId();
    const asked = { requestId, teamId, keyId, characters: 10, reserve: true, leaseMs: 60_000, glossary: undefined };
    const admission = await ledger.admit(asked);
    const resolution = await ledger.resolve(teamId, requestId, 'commit');
    if (admission.kind !== 'admitted' || resolution.kind !== 'committed')
      throw new Error(`an id returned ${admission.kind} and ${resolution.kind}`);
  });
}

async function inTurns<T, R>(all: readonly T[], each: (one: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  for (let done = 0; done < all.length; done += AT_ONCE) results.push(...(await Promise.all(all.slice(done, done + AT_ONCE).map(each))));
  return results;
}

async function onRedis(arena: Arena): Promise<Measured> {
  const { port, stop } = await startRedis(arena.ground('memory-redis'));
  const bytes = () => withRedis(port, async (redis) => Number(/^used_memory:(\d+)/m.exec(await redis.info('memory'))?.[1]));
  return { name: 'Redis', url: `redis://127.0.0.1:${port}`, bytes, stop };
}

async function onSqlite(arena: Arena): Promise<Measured> {
  const path = join(arena.ground('memory-sqlite').folder, 'lingate.db');
  const bytes = async (): Promise<number> => {
    const database = new DatabaseSync(path, { readOnly: true });
    const number = (name: string) => Number(Object.values(database.prepare(`PRAGMA ${name}`).get() ?? {})[0]);
    const size = (number('page_count') - number('freelist_count')) * number('page_size');
    database.close();
    return size;
  };
  return { name: 'SQLite', url: `sqlite:${path}`, bytes, stop: () => Promise.resolve() };
}
