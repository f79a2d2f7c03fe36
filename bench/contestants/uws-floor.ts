// Bare uWebSockets.js: parses the JSON and answers itself.
import type { Contestant } from './contestant.ts';
import { engineAnswer } from './contestant.ts';
import { olderUws } from './older-uws.ts';
import { SAMPLE_TEXT } from './sample.ts';
import { plainProxy } from './plain.ts';
import { startServer } from './program.ts';

/** Must equal the answer of `servers/uws-floor.ts`. */
const CONSTANT = engineAnswer([SAMPLE_TEXT]);

export const uwsFloor = floor('uws-floor', 'bare uWebSockets.js, JSON parsed, constant answer: the floor');
export const uwsFloorOlder = floor('uws-floor-older', 'the same on the older build of uWebSockets.js', olderUws);

function floor(name: string, does: string, env?: () => Readonly<Record<string, string>>): Contestant {
  return {
    name,
    does,
    async start({ cores, folder }) {
      const program = await startServer('uws-floor.ts', cores.gateway, folder, {}, env?.());
      return { ...plainProxy(program), expect: () => CONSTANT };
    },
  };
}
