// A team that is too fast pays little more with long bodies: what its 429 costs the gateway, beside that of a small one.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { FACADES, FRONTS } from '../../support/fronts.ts';
import type { Front } from '../../support/fronts.ts';
import { makeTeam, QUOTA_PLAN } from '../../support/gateway.ts';
import { request } from '../../support/raw-http.ts';
import { startLoadedGateway } from '../load/loaded-gateway.ts';
import type { LoadedGateway } from '../load/loaded-gateway.ts';
import { BODY_BYTES, COSTLY_BODIES } from './costly-bodies.ts';
import { processorMs } from './processor-time.ts';

const RATIO = 3;
const REQUESTS = 40;
/** In turns, because others use the machine: the least of each is compared, after so many rounds, or up to so many if need be. */
const ROUNDS = 6;
const ROUNDS_MAX = 40;

describe.each([
  ['uws', 'redis'],
  ['node', 'sqlite'],
] as const)('on %s with %s', (listener, store) => {
  let gateway: LoadedGateway;
  let key = '';

  beforeAll(async () => {
    gateway = await startLoadedGateway({ store, config: { listener, plugins: FACADES, limits: { shed_loop_delay_ms: 0 } } });
    ({ key } = await makeTeam(gateway.store, { ...QUOTA_PLAN, requests_per_second: 1 }));
  });

  afterAll(() => gateway.stop());

  /** Milliseconds of processor for one 429, the few that are something else included. */
  async function cost(front: Front, body: string): Promise<number> {
    const asked = front.translation(key, ['Hello']);
    const headers = { ...asked.headers, authorization: `Bearer ${key}` };
    const pid = gateway.process.process.pid!;
    const before = await processorMs(pid);
    let throttled = 0;
    for (let i = 0; i < REQUESTS; i++) {
      const { status } = await request({ port: gateway.port, method: 'POST', path: asked.path, headers, body });
      if (status === 429) throttled++;
    }
    const ms = ((await processorMs(pid)) - before) / REQUESTS;
    expect(throttled).toBeGreaterThan(REQUESTS / 2);
    return ms;
  }

  test.each(FRONTS)(
    'over $name',
    async (front) => {
      const small = front.translation(key, ['Hello']).body;
      const costly = COSTLY_BODIES.find(({ name }) => name === (small.startsWith('{') ? 'brackets that never close' : 'empty fields'))!;
      expect(costly.body.length).toBe(BODY_BYTES);
      let [least, leastSmall] = [Infinity, Infinity];
      for (let round = 0; round < ROUNDS || (least > RATIO * leastSmall && round < ROUNDS_MAX); round++) {
        leastSmall = Math.min(leastSmall, await cost(front, small));
        least = Math.min(least, await cost(front, costly.body));
      }
      process.stdout.write(
        `429 on ${listener}, ${front.name}: ${(leastSmall * 1000).toFixed(0)} µs, with 1 MiB ${(least * 1000).toFixed(0)} µs\n`,
      );
      expect(least / leastSmall).toBeLessThanOrEqual(RATIO);
    },
    240_000,
  );
});
