// A port of this machine that nobody listens on now, for programs that cannot be told to take any.
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * Below those that the system gives to whoever asks for any port, or connects: from 32768 on, unless it was told otherwise. So is
 * the bus of a Redis Cluster, 10,000 above its node's port.
 */
const [FIRST, BEHIND] = [10_000, 22_000];

/** Somebody else may draw the same before it is used: whoever can, tries again with another. */
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
