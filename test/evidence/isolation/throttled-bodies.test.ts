// A team above its rate gains little with long bodies: what their 429 costs the gateway, compared with that of a small one.
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
/** In turns, because others use the machine: the minimum of each is compared, after this many rounds, or up to this many if needed. */
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

  /** CPU milliseconds for one 429, including the few that are something else. */
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
