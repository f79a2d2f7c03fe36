// All names that a Redis dataset of ours has, and what those outside of teams lead to.
import { Cluster } from 'ioredis';
import type { Redis } from 'ioredis';
import type { KeyOwner } from '../../domain/api-key.ts';
import type { RedisConnection } from './redis-connection.ts';

/** All names of ours, of all masters, in pieces; one may come twice. */
export async function* scanned(redis: RedisConnection, count: number): AsyncGenerator<string[]> {
  const masters: readonly Redis[] = redis instanceof Cluster ? redis.nodes('master') : [redis];
  for (const master of masters) {
    for (let cursor = '0', begun = false; !begun || cursor !== '0'; begun = true) {
      const [next, names] = await master.scan(cursor, 'MATCH', 'lingate:*', 'COUNT', count);
      if (names.length > 0) yield names;
      cursor = next;
    }
  }
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
