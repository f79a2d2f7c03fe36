// Finds out whether another program has a port: shared listening would not notice, and uWebSockets.js does not say why it failed.
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { listenError } from './listener.ts';

/**
 * Resolves with the port if no other program has it at this moment; for 0 with a free one, because uWebSockets.js does not
 * share a port that the system has chosen. Rejects with a `ListenError`.
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
