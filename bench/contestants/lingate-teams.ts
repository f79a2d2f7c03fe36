// Makes the bench's teams and keys in Lingate's own store, through the port that the command line uses.
import { digestOf, displayOf } from '../../src/domain/api-key.ts';
import { limitsOf } from '../../src/domain/plan.ts';
import type { Plan } from '../../src/domain/plan.ts';
import { ulidSource } from '../../src/domain/ulid.ts';
import type { Log } from '../../src/ports/log.ts';
import { openStore } from '../../src/stores/open.ts';

const AT_ONCE = 64;
const SILENT: Log = { info: () => undefined, warn: () => undefined, error: () => undefined };
const clock = { nowMs: () => Date.now() };

export async function makeTeams(storeUrl: string, plan: Plan, keys: readonly string[]): Promise<void> {
  const store = await openStore(storeUrl, { log: SILENT, clock, sqliteDurability: 'normal', commandTimeoutMs: 10_000 });
  const newId = ulidSource(clock.nowMs);
  const make = async (key: string): Promise<void> => {
    const [teamId, keyId] = [newId(), newId()];
    await store.teams.createTeam({ teamId, name: 'Bench', plan: 'bench', limits: limitsOf(plan), balanceMicro: 0 });
    await store.teams.createKey({ keyId, teamId, digest: digestOf(key), display: displayOf(key), label: 'bench', mode: 'live' });
  };
  try {
    for (let done = 0; done < keys.length; done += AT_ONCE) await Promise.all(keys.slice(done, done + AT_ONCE).map(make));
  } finally {
    await store.close();
  }
}
