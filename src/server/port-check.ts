// Checks whether another program uses a port: shared listening would not notice, and uWebSockets.js does not report why it
// failed.
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { listenError } from './listener.ts';

/**
 * Resolves with the port if no other program uses it at this moment; for 0, with a free one, because uWebSockets.js does not
 * share a port chosen by the system. Rejects with a `ListenError`.
 */
export function freePortOf(host: string, port: number): Promise<number> {
  const probe = createServer();
  return new Promise((resolve, reject) => {
    probe.once('error', (error: NodeJS.ErrnoException) => reject(listenError(host, port, error.code)));
    probe.listen({ host, port, exclusive: true }, () => {
      const found = (probe.address() as AddressInfo).port;
      probe.close(() => resolve(found));
    });
  });
}
