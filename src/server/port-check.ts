// Finds out whether a port could be had alone: sharing it would not notice, and uWebSockets.js would not say why.
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { listenError } from './listener.ts';

/**
 * Resolves with the port when it could be had alone at this moment; instead of 0 with a free one, because uWebSockets.js
 * does not share a port that the system chose for it. Rejects with a `ListenError`.
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
