// A Redis of a contestant's own, set up the same for all: append-only file, as a gateway that charges money needs it.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { freePort } from '../machine/free-port.ts';
import type { Ground } from './contestant.ts';
import { startProgram } from './program.ts';
import type { Program } from './program.ts';

/** Without rewrites of the file: they would hit one contestant's round and not another's. */
const SETTINGS = ['--save', '', '--appendonly', 'yes', '--appendfsync', 'everysec', '--auto-aof-rewrite-percentage', '0'];

export async function startRedis({ cores, folder }: Ground): Promise<Program> {
  const port = await freePort();
  const directory = join(folder, 'redis');
  mkdirSync(directory, { recursive: true });
  const args = ['--port', String(port), '--bind', '127.0.0.1', '--dir', directory, ...SETTINGS];
  return startProgram('redis-server', args, { cores: cores.others, port, folder, name: 'redis' });
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
