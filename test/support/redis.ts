// A real redis-server for tests: on a free loopback port, in a directory of its own, which is removed when it stops.
import type { ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from './free-port.ts';
import { launch } from './start-program.ts';

export interface RedisServer {
  readonly url: string;
  readonly port: number;
  readonly process: ChildProcess;
  stop(): Promise<void>;
}

const START_ATTEMPTS = 3;
const READY = /Ready to accept connections|Sentinel ID is/;

/**
 * Persists nothing unless `args` say so; they are redis-server's arguments and come last. `--port N` among them is honoured.
 * `file` is a configuration file; a sentinel needs one.
 */
export async function startRedis(args: readonly string[] = [], file?: string): Promise<RedisServer> {
  const portAt = args.indexOf('--port');
  for (let attempt = 1; ; attempt++) {
    const port = portAt === -1 ? await freePort() : Number(args[portAt + 1]);
    try {
      return await start(port, file === undefined ? [] : [file], args);
    } catch (error) {
      // Another process may have taken the port since it was found free.
      if (attempt === START_ATTEMPTS) throw error;
    }
  }
}

async function start(port: number, file: readonly string[], args: readonly string[]): Promise<RedisServer> {
  const directory = mkdtempSync(join(tmpdir(), 'lingate-redis-'));
  const persistence = args.includes('--sentinel') ? [] : ['--save', '', '--appendonly', 'no'];
  const settings = [...file, '--port', String(port), '--bind', '127.0.0.1', '--dir', directory, ...persistence];
  const program = launch('redis-server', [...settings, ...args]);
  const stop = async (): Promise<void> => {
    await program.end();
    rmSync(directory, { recursive: true, force: true });
  };
  try {
    await program.until(READY);
  } catch (error) {
    await stop();
    throw error;
  }
  return { url: `redis://127.0.0.1:${port}`, port, process: program.child, stop };
}
