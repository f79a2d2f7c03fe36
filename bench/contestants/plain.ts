// Contestants that only forward requests: no key, and the engine's own answer.
import { engineAnswer, TRANSLATE_PATH } from './contestant.ts';
import type { Running } from './contestant.ts';
import type { Program } from './program.ts';

export function plainProxy({ port, pid, stop }: Program): Running {
  return { port, path: TRANSLATE_PATH, gatewayPid: pid, redis: [], authorizations: [''], expect: engineAnswer, stop };
}
