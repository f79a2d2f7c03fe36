// What Node could do at best: a floor that answers itself, and two proxies with nothing in between, over bare sockets and by undici.
import { engineAnswer, plainProxy, SAMPLE_TEXT } from './contestant.ts';
import type { Contestant } from './contestant.ts';
import { startServer } from '../machine.ts';

export const uwsFloor: Contestant = {
  name: 'uws-floor',
  does: 'bare uWebSockets.js, JSON parsed, constant answer: the floor',
  async start({ cores, folder }) {
    const program = await startServer('uws-floor.ts', cores.gateway, folder, {});
    return { ...plainProxy(program), expect: () => engineAnswer([SAMPLE_TEXT]), isConstant: true };
  },
};

export const uwsRaw = proxy('uws-raw', 'uWebSockets.js and bare sockets, proxy only');
export const uwsUndici = proxy('uws-undici', 'uWebSockets.js and undici dispatch, proxy only');

function proxy(name: string, does: string): Contestant {
  return {
    name,
    does,
    async start({ cores, folder, enginePort }) {
      return plainProxy(await startServer(`${name}.ts`, cores.gateway, folder, { engine: enginePort }));
    },
  };
}
