// Whether gateways serve from a Redis dataset: each process writes a small key of its own every half a second.
import { setTimeout as delay } from 'node:timers/promises';
import { scanned } from './keyspace.ts';
import type { RedisConnection } from './redis-connection.ts';

const PROBE = /^lingate:\{[^}]+\}:probe:/;
const SCAN_PIECE = 1000;
/** Several times as long as a process that is alive takes to write its key again; one that is gone leaves it for ten seconds. */
const LOOK_AGAIN_MS = 2500;

export async function isServed(redis: RedisConnection): Promise<boolean> {
  const before = await probes(redis);
  if (before.size === 0) return false;
  await delay(LOOK_AGAIN_MS);
  const after = await probes(redis);
  return [...after].some(([name, endsMs]) => endsMs > (before.get(name) ?? 0));
}

/** Probes by when they expire. */
async function probes(redis: RedisConnection): Promise<Map<string, number>> {
  const found = new Map<string, number>();
  for await (const names of scanned(redis, SCAN_PIECE)) {
    for (const name of names.filter((one) => PROBE.test(one))) found.set(name, await redis.pexpiretime(name));
  }
  return found;
}
