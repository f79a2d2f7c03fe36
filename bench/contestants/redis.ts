// A Redis for each contestant, configured the same for all: append-only file, as a gateway that charges money needs it.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { freePort } from '../../test/support/free-port.ts';
import type { Ground, RedisServer } from './contestant.ts';
import { startProgram } from './program.ts';
import type { Program } from './program.ts';

/** Without rewrites of the file: they would affect one contestant's round and not another's. */
const SETTINGS = ['--save', '', '--appendonly', 'yes', '--appendfsync', 'everysec', '--auto-aof-rewrite-percentage', '0'];

/** Members of a cluster check each other once a second. */
const CLUSTER_MS = 20_000;

export async function startRedis({ cores, folder }: Ground, more: readonly string[] = []): Promise<Program> {
  const port = await freePort();
  const directory = join(folder, 'redis');
  mkdirSync(directory, { recursive: true });
  const args = ['--port', String(port), '--bind', '127.0.0.1', '--dir', directory, ...SETTINGS, ...more];
  return startProgram('redis-server', args, { cores: cores.others, port, folder, name: 'redis' });
}

/** Masters that share the slots. */
interface RedisCluster {
  readonly masters: readonly Program[];
  readonly url: string;
}

const SLOTS = 16_384;

export async function startRedisCluster(ground: Ground, count: number): Promise<RedisCluster> {
  const masters = await Promise.all(
    Array.from({ length: count }, (_, index) => {
      const folder = join(ground.folder, `master-${index}`);
      mkdirSync(folder, { recursive: true });
      return startRedis({ ...ground, folder }, ['--cluster-enabled', 'yes']);
    }),
  );
  for (const [index, { port }] of masters.entries()) {
    await withRedis(port, async (redis) => {
      const [first, next] = [index, index + 1].map((part) => Math.floor((SLOTS * part) / count)) as [number, number];
      await redis.call('CLUSTER', 'ADDSLOTSRANGE', String(first), String(next - 1));
      // Separate epochs, because two masters with the same one first resolve that conflict.
      await redis.call('CLUSTER', 'SET-CONFIG-EPOCH', String(index + 1));
      for (const other of masters) if (other.port < port || index > 0) await redis.call('CLUSTER', 'MEET', '127.0.0.1', String(other.port));
    });
  }
  await Promise.all(masters.map(({ port }) => withRedis(port, untilWhole)));
  return { masters, url: `redis+cluster://${masters.map(({ port }) => `127.0.0.1:${port}`).join(',')}` };
}

async function untilWhole(redis: Redis): Promise<void> {
  const until = performance.now() + CLUSTER_MS;
  while (!String(await redis.call('CLUSTER', 'INFO')).includes('cluster_state:ok')) {
    if (performance.now() > until) throw new Error('its Redis cluster did not form');
    await pause(50);
  }
}

/** Scripts that were run on these servers so far. */
export async function scriptCalls(servers: readonly RedisServer[]): Promise<number> {
  const counts = await Promise.all(
    servers.map(({ port }) =>
      withRedis(port, async (redis) => {
        const stats = await redis.info('commandstats');
        return [...stats.matchAll(/^cmdstat_(?:evalsha|eval|fcall):calls=(\d+)/gm)].reduce((sum, [, calls]) => sum + Number(calls), 0);
      }),
    ),
  );
  return counts.reduce((sum, count) => sum + count, 0);
}

/** A connection for preparing and reading a contestant's data. */
export async function withRedis<T>(port: number, use: (redis: Redis) => Promise<T>): Promise<T> {
  const redis = new Redis({ port, host: '127.0.0.1' });
  try {
    return await use(redis);
  } finally {
    redis.disconnect();
  }
}
