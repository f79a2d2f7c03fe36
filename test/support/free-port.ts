// Finds a free port of this machine, for programs that cannot choose one themselves, and keeps it for the process that asked.
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { Server } from 'node:net';

/**
 * Below the system's ephemeral range, which by default starts at 32768. So is the bus of a Redis Cluster, 10,000 above
 * its node's port, and no bus is within this range, where it would take the port of another program.
 */
const [FIRST, BEHIND] = [10_000, 20_000];

/** No other process that asks here gets the same port before this one ends. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(FIRST, BEHIND);
    // Held to the end: the port itself cannot be, since another program is to listen on it.
    const claim = await listener({ path: `\0lingate-test-port-${port}` });
    claim?.unref();
    if (claim !== undefined && (await isFree(port))) return port;
    claim?.close();
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = await listener({ port, host: '127.0.0.1' });
  if (server === undefined) return false;
  server.close();
  await once(server, 'close');
  return true;
}

/** `undefined` if another one listens there. */
async function listener(where: { readonly path: string } | { readonly port: number; readonly host: string }): Promise<Server | undefined> {
  const server = createServer().listen(where);
  try {
    await once(server, 'listening');
    return server;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EADDRINUSE') return undefined;
    throw error;
  }
}
