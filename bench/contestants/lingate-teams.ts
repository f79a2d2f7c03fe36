// Creates the bench's teams and keys in Lingate's own store, through the port that the command line uses.
import { digestOf, displayOf } from '../../src/domain/api-key.ts';
import { limitsOf } from '../../src/domain/plan.ts';
import type { Plan, QuotaPlan } from '../../src/domain/plan.ts';
import { answered } from '../../src/domain/store-unavailable.ts';
import { ulidSource } from '../../src/domain/ulid.ts';
import type { Log } from '../../src/ports/log.ts';
import { openStore } from '../../src/stores/open.ts';

const AT_ONCE = 256;
const SILENT: Log = { info: () => undefined, warn: () => undefined, error: () => undefined };
const clock = { nowMs: () => Date.now() };

export const BENCH_PLAN: QuotaPlan = {
  billing: 'quota',
  // The load of a whole machine on a single team must not reach it.
  requests_per_second: 100_000,
  max_characters_per_request: 10_000_000,
  max_glossaries: 1,
  characters: 1_000_000_000_000,
  period: 'P1M',
  overage_cap_minor: 0,
  overage_minor_per_million: 0,
  currency: 'EUR',
};

export interface TeamOfKey {
  readonly teamId: string;
  readonly keyId: string;
}

/** A team for each key, in the order of the keys. */
export async function makeTeams(storeUrl: string, plan: Plan, keys: readonly string[]): Promise<TeamOfKey[]> {
  const store = await openStore(storeUrl, { log: SILENT, clock, durability: 'normal', commandTimeoutMs: 60_000 });
  const newId = ulidSource(clock.nowMs);
  const make = async (key: string): Promise<TeamOfKey> => {
    const [teamId, keyId] = [newId(), newId()];
    answered(await store.teams.createTeam({ teamId, name: 'Bench', plan: 'bench', limits: limitsOf(plan), balanceMicro: 0 }));
    answered(await store.teams.createKey({ keyId, teamId, digest: digestOf(key), display: displayOf(key), label: 'bench', mode: 'live' }));
    return { teamId, keyId };
  };
  const teams: TeamOfKey[] = [];
  try {
    for (let done = 0; done < keys.length; done += AT_ONCE) teams.push(...(await Promise.all(keys.slice(done, done + AT_ONCE).map(make))));
  } finally {
    await store.close();
  }
  return teams;
}
