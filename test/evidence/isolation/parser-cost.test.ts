// No body of the default length, whatever it is made of, keeps the event loop for 20 ms: by the processor time of the gateway's thread.
import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { FACADES } from '../../support/fronts.ts';
import { request } from '../../support/raw-http.ts';
import { ROOMY_PLAN, startLoadedGateway } from '../load/loaded-gateway.ts';
import type { LoadedGateway } from '../load/loaded-gateway.ts';
import { makeTeam } from '../../support/gateway.ts';
import { COSTLY_BODIES, costlyBody } from './costly-bodies.ts';
import type { CostlyBody } from './costly-bodies.ts';
import { loopThreadMs } from './processor-time.ts';

/** All that the thread does for a request: its bytes, the parser, the rules, the answer. One piece of it cannot be longer. */
const BOUND_MS = 20;
/** The best of so many counts: what is compiled, and collected as garbage, is not the body's. */
const TRIES = 15;
const DRAWN = 30;
/** Read and judged in one turn of the event loop (about 12 ms by profile), then written by the store in pieces, a turn each. */
const IN_TURNS = { name: '10,000 entries', path: '/v2/glossaries', boundMs: 2 * BOUND_MS };

/** Where bodies of a type are read. */
const PATHS: Readonly<Record<string, readonly string[]>> = {
  'application/json': ['/v1/translate', '/v1/glossaries', '/v2/translate', '/v3/glossaries', '/translate'],
  'application/x-www-form-urlencoded': ['/v2/translate', '/v2/glossaries', '/translate'],
  'multipart/form-data; boundary=B': ['/v2/translate', '/translate'],
};

describe.each(['uws', 'node'] as const)('on %s', (listener) => {
  let gateway: LoadedGateway;
  let key = '';

  beforeAll(async () => {
    const config = { listener, plugins: FACADES, limits: { shed_loop_delay_ms: 0 } };
    gateway = await startLoadedGateway({ store: 'sqlite', config });
    ({ key } = await makeTeam(gateway.store, { ...ROOMY_PLAN, max_glossaries: 1 }));
    // What runs first is interpreted.
    for (const body of COSTLY_BODIES) for (const path of PATHS[body.contentType]!) await sent(path, body);
  });

  afterAll(() => gateway.stop());

  async function sent(path: string, { contentType, body }: CostlyBody): Promise<number> {
    const headers = { authorization: `Bearer ${key}`, 'content-type': contentType };
    const { status } = await request({ port: gateway.port, method: 'POST', path, headers, body });
    return status;
  }

  /** Milliseconds of the thread. */
  async function costOf(path: string, body: CostlyBody): Promise<number> {
    let least = Infinity;
    for (let i = 0; i < TRIES && (i === 0 || least > BOUND_MS / 2); i++) {
      const before = await loopThreadMs(gateway.process.process.pid!);
      expect(await sent(path, body)).toBeLessThan(500);
      least = Math.min(least, (await loopThreadMs(gateway.process.process.pid!)) - before);
    }
    return least;
  }

  async function dearOnes(bodies: readonly CostlyBody[]): Promise<string[]> {
    const dear: string[] = [];
    for (const body of bodies) {
      for (const path of PATHS[body.contentType]!) {
        const ms = await costOf(path, body);
        const inTurns = body.name === IN_TURNS.name && path === IN_TURNS.path;
        if (ms > (inTurns ? IN_TURNS.boundMs : BOUND_MS)) dear.push(`${body.name}, ${body.contentType}, to ${path}: ${ms.toFixed(1)} ms`);
      }
    }
    return dear;
  }

  test('bodies that were the worst of their kind', async () => {
    expect(await dearOnes(COSTLY_BODIES)).toEqual([]);
  });

  test('bodies that are drawn: nesting, names, numbers, escapes, forms and parts', async () => {
    expect(await dearOnes(fc.sample(costlyBody, DRAWN))).toEqual([]);
  });
});
