// uWebSockets.js with bare sockets to the engine: the cost of the hop itself, with a minimal client instead of undici.
import type { Contestant } from './contestant.ts';
import { plainProxy } from './plain.ts';
import { startServer } from './program.ts';

export const uwsRaw: Contestant = {
  name: 'uws-raw',
  does: 'uWebSockets.js and bare sockets, proxy only',
  async start({ cores, folder, enginePort }) {
    return plainProxy(await startServer('uws-raw.ts', cores.gateway, folder, { engine: enginePort }));
  },
};
