// A real redis-server for tests: on a free loopback port, in a directory of its own, gone when stopped.
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface RedisServer {
  readonly url: string;
  readonly port: number;
  readonly process: ChildProcess;
  stop(): Promise<void>;
}

const START_ATTEMPTS = 3;
const START_TIMEOUT_MS = 10_000;

/**
 * Persists nothing unless `args` say so; they are redis-server's and come last. `--port N` among them is honoured.
 * `file` is a configuration file, without which there is no sentinel.
 */
export async function startRedis(args: readonly string[] = [], file?: string): Promise<RedisServer> {
  const portAt = args.indexOf('--port');
  for (let attempt = 1; ; attempt++) {
    const port = portAt === -1 ? await freePort() : Number(args[portAt + 1]);
    try {
      return await start(port, file === undefined ? [] : [file], args);
    } catch (error) {
      // Someone else may have taken the port between its being found free and used.
      if (attempt === START_ATTEMPTS) throw error;
    }
  }
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

async function start(port: number, file: readonly string[], args: readonly string[]): Promise<RedisServer> {
  const directory = mkdtempSync(join(tmpdir(), 'lingate-redis-'));
  const persistence = args.includes('--sentinel') ? [] : ['--save', '', '--appendonly', 'no'];
  const settings = [...file, '--port', String(port), '--bind', '127.0.0.1', '--dir', directory, ...persistence];
  const child = spawn('redis-server', [...settings, ...args], { stdio: ['ignore', 'pipe', 'ignore'] });
  const kill = () => child.kill('SIGKILL');
  process.once('exit', kill);
  const exited = once(child, 'exit');
  const stop = async () => {
    kill();
    await exited;
    process.off('exit', kill);
    rmSync(directory, { recursive: true, force: true });
  };
  try {
    await ready(child);
  } catch (error) {
    await stop();
    throw error;
  }
  return { url: `redis://127.0.0.1:${port}`, port, process: child, stop };
}

function ready(child: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    let output = '';
    const fail = () => reject(new Error(`redis-server did not start: ${output.slice(-500)}`));
    const timer = setTimeout(fail, START_TIMEOUT_MS);
    child.once('error', fail);
    child.once('exit', fail);
    // Listening on after it is ready keeps the pipe from filling up.
    child.stdout?.on('data', (chunk: Buffer) => {
      output = (output + chunk.toString()).slice(-5000);
      if (!output.includes('Ready to accept connections') && !output.includes('Sentinel ID is')) return;
      clearTimeout(timer);
      child.off('exit', fail);
      resolve();
    });
  });
}
