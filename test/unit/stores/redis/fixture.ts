// Shared by the Redis tests: a store with a team and a key, a log in memory, and a snapshot of everything that is stored.
import type { Redis } from 'ioredis';
import { expect } from 'vitest';
import { answered, StoreError } from '../../../../src/domain/store-unavailable.ts';
import type { TeamLimits } from '../../../../src/domain/plan.ts';
import type { AdmissionRequest } from '../../../../src/ports/ledger.ts';
import type { Log } from '../../../../src/ports/log.ts';
import type { PluginStore } from '../../../../src/ports/plugin.ts';
import { openRedisStore } from '../../../../src/stores/redis/redis-store.ts';
import { GENEROUS_QUOTA } from '../../../../src/testing/store/team-under-test.ts';
import { promisedStore } from '../../../support/promised-store.ts';

export const TEAM = '01JTEAM0000000000000000000';
export const KEY = '01JKEY00000000000000000000';
export const DIGEST = 'digest-of-the-key';

const QUOTA: TeamLimits = { ...GENEROUS_QUOTA, requestsPerSecond: 100, maxCharactersPerRequest: 1000, characterLimit: 5000 };

interface MemoryLog extends Log {
  readonly lines: string[];
}

export function memoryLog(): MemoryLog {
  const lines: string[] = [];
  const keep = (message: string, fields: unknown) => void lines.push(`${message} ${JSON.stringify(fields)}`);
  return { lines, info: keep, warn: keep, error: keep };
}

export async function furnish(
  store: Pick<PluginStore, 'teams'>,
  limits: TeamLimits = QUOTA,
  balanceMicro = 0,
  teamId = TEAM,
  keyId = KEY,
): Promise<void> {
  answered(await store.teams.createTeam({ teamId, name: 'Team', plan: 'plan', limits, balanceMicro }));
  answered(
    await store.teams.createKey({ keyId, teamId, digest: `${DIGEST}-${keyId}`, display: 'la_live_Ab3d', label: 'label', mode: 'live' }),
  );
}

export function asking(requestId: string, more: Partial<AdmissionRequest> = {}): AdmissionRequest {
  return { requestId, teamId: TEAM, keyId: KEY, characters: 10, reserve: true, leaseMs: 60_000, glossary: undefined, ...more };
}

/** Every key with its serialised value. */
export async function snapshot(client: Redis): Promise<Record<string, string>> {
  const names = (await client.keys('*')).toSorted();
  const values = await Promise.all(
    names.map(async (name) => {
      // The order of a hash's fields says nothing.
      if ((await client.type(name)) === 'hash')
        return JSON.stringify(Object.entries(await client.hgetall(name)).toSorted(([one], [other]) => one.localeCompare(other)));
      return (await client.dumpBuffer(name))?.toString('base64') ?? '';
    }),
  );
  return Object.fromEntries(names.map((name, i) => [name, values[i]!]));
}

/** The number of function calls since the statistics were last reset. */
export async function functionCalls(client: Redis): Promise<number> {
  const statistics = await client.info('commandstats');
  const calls = [...statistics.matchAll(/^cmdstat_fcall:calls=(\d+)/gm)];
  return calls.reduce((sum, match) => sum + Number(match[1]), 0);
}

/** The one-line message of a refused opening. */
export async function refusal(url: string): Promise<string> {
  const opened = openRedisStore({ url, log: memoryLog(), commandTimeoutMs: 5000 });
  const error = await opened.then(
    async (store) => {
      await store.close();
      throw new Error('it was opened');
    },
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(StoreError);
  const { message } = error as StoreError;
  expect(message).not.toContain('\n');
  return message;
}

/** Opens a store, uses it end to end, and closes it. */
export async function walk(url: string, log = memoryLog()): Promise<void> {
  const store = promisedStore(await openRedisStore({ url, log, commandTimeoutMs: 5000 }));
  try {
    await store.ping();
    await furnish(store);
    expect(await store.ledger.admit(asking('r1'))).toMatchObject({ kind: 'admitted' });
    expect(await store.ledger.resolve(TEAM, 'r1', 'commit')).toEqual({ kind: 'committed' });
    expect(await store.teams.standing(TEAM)).toMatchObject({ usedCharacters: 10, openReservations: 0 });
    expect(await store.teams.listTeams()).toHaveLength(1);
  } finally {
    await store.close();
  }
}
