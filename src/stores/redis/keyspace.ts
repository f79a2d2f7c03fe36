// All keys of a Lingate data set in Redis, the owners that key digests lead to, and whether gateways are using it.
import { setTimeout as delay } from 'node:timers/promises';
import type { KeyOwner } from '../../domain/api-key.ts';
import { mastersOf } from './redis-connection.ts';
import type { RedisConnection } from './redis-connection.ts';
import { TEAMS_KEY } from './redis-keys.ts';

/** All key names with this prefix on all masters, in batches; a name may occur twice. */
export async function* scanned(redis: RedisConnection, count: number, prefix = 'lingate:'): AsyncGenerator<string[]> {
  for (const master of mastersOf(redis)) {
    for (let cursor = '0', begun = false; !begun || cursor !== '0'; begun = true) {
      const [next, names] = await master.scan(cursor, 'MATCH', `${prefix}*`, 'COUNT', count);
      if (names.length > 0) yield names;
      cursor = next;
    }
  }
}

/** The ids of all teams in order of creation, so many at a time. */
export async function* listedTeams(redis: RedisConnection, count: number): AsyncGenerator<string[]> {
  for (let first = 0; ; first += count) {
    const ids = await redis.zrange(TEAMS_KEY, String(first), String(first + count - 1));
    yield ids;
    if (ids.length < count) return;
  }
}

export type RedisWords = readonly [name: string, ...args: (string | Buffer)[]];

/** Runs the commands in one transaction, and returns their replies; throws if one has failed. */
export async function together(redis: RedisConnection, commands: readonly RedisWords[]): Promise<unknown[]> {
  const transaction = redis.multi();
  for (const [name, ...args] of commands) transaction.callBuffer(name, ...args);
  const replies = (await transaction.exec()) ?? [];
  return replies.map(([error, reply]) => {
    if (error) throw error;
    return reply;
  });
}

export function isWrongType(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('WRONGTYPE');
}

export function readOwner(json: string | null): KeyOwner | undefined {
  try {
    const owner = JSON.parse(json ?? 'null') as Partial<KeyOwner> | null;
    if (typeof owner?.keyId !== 'string' || typeof owner.teamId !== 'string' || typeof owner.mode !== 'string') return undefined;
    return { keyId: owner.keyId, teamId: owner.teamId, mode: owner.mode };
  } catch {
    return undefined;
  }
}

const PROBE = /^lingate:\{[^}]+\}:probe:/;
const SCAN_PIECE = 1000;
/** Several times the interval at which a running process renews its key; after it stops, the key lasts ten seconds. */
const LOOK_AGAIN_MS = 2500;

/** Whether gateways are running: each process renews its own small key every half second. */
export async function isServed(redis: RedisConnection): Promise<boolean> {
  const before = await probes(redis);
  if (before.size === 0) return false;
  await delay(LOOK_AGAIN_MS);
  const after = await probes(redis);
  return [...after].some(([name, endsMs]) => endsMs > (before.get(name) ?? 0));
}

/** Probe keys with their expiry times. */
async function probes(redis: RedisConnection): Promise<Map<string, number>> {
  const found = new Map<string, number>();
  for await (const names of scanned(redis, SCAN_PIECE)) {
    for (const name of names.filter((one) => PROBE.test(one))) found.set(name, await redis.pexpiretime(name));
  }
  return found;
}
