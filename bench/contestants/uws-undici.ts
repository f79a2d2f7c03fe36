// uWebSockets.js with undici's dispatch to the engine: the minimal cost of a proxy in Node with that client.
import type { Contestant } from './contestant.ts';
import { plainProxy } from './plain.ts';
import { startServer } from './program.ts';

export const uwsUndici: Contestant = {
  name: 'uws-undici',
  does: 'uWebSockets.js and undici dispatch, proxy only',
  async start({ cores, folder, enginePort }) {
    return plainProxy(await startServer('uws-undici.ts', cores.gateway, folder, { engine: enginePort }));
  },
};
