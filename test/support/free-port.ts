// Finds a free port of this machine, for programs that cannot choose one themselves.
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * Below the system's ephemeral range, which by default starts at 32768. The bus of a Redis Cluster, 10,000 above its
 * node's port, is below it too.
 */
const [FIRST, BEHIND] = [10_000, 22_000];

/** Another process may take the port before it is used: where possible, try again with another. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(FIRST, BEHIND);
    if (await isFree(port)) return port;
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, '127.0.0.1');
  try {
    await once(server, 'listening');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EADDRINUSE') return false;
    throw error;
  }
  server.close();
  await once(server, 'close');
  return true;
}
