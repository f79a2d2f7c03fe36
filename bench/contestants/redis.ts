// A Redis for each contestant, configured the same for all: append-only file, as a gateway that charges money needs it.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../../test/support/free-port.ts';
import { startPinned } from '../machine.ts';
import type { Program } from '../machine.ts';
import type { Ground } from './contestant.ts';

/** Without rewrites of the file: they would affect one contestant's round and not another's. */
export const REDIS_SETTINGS = ['--save', '', '--appendonly', 'yes', '--appendfsync', 'everysec', '--auto-aof-rewrite-percentage', '0'];

export async function startRedis({ cores, folder }: Ground): Promise<Program> {
  const port = await freePort();
  const directory = join(folder, 'redis');
  mkdirSync(directory, { recursive: true });
  const args = ['--port', String(port), '--bind', '127.0.0.1', '--dir', directory, ...REDIS_SETTINGS];
  return startPinned('redis-server', args, { cores: cores.others, port, folder, name: 'redis' });
}
