// Bare uWebSockets.js: parses the JSON and answers by itself.
import type { Contestant } from './contestant.ts';
import { engineAnswer } from './contestant.ts';
import { SAMPLE_TEXT } from './sample.ts';
import { plainProxy } from './plain.ts';
import { startServer } from './program.ts';

/** Word for word what `servers/uws-floor.ts` says. */
const CONSTANT = engineAnswer([SAMPLE_TEXT]);

export const uwsFloor: Contestant = {
  name: 'uws-floor',
  does: 'bare uWebSockets.js, JSON parsed, constant answer: the floor',
  async start({ cores, folder }) {
    const program = await startServer('uws-floor.ts', cores.gateway, folder, {});
    return { ...plainProxy(program), expect: () => CONSTANT };
  },
};
