// http-proxy-3 on node:http: the proxy library that Node users know.
import { startServer } from '../machine.ts';
import { plainProxy } from './contestant.ts';
import type { Contestant } from './contestant.ts';

export const httpProxy3: Contestant = {
  name: 'http-proxy-3',
  does: 'proxy only: node:http with an agent that keeps connections, no log',
  async start({ cores, folder, enginePort }) {
    return plainProxy(await startServer('http-proxy-3.ts', cores.gateway, folder, { engine: enginePort }));
  },
};
