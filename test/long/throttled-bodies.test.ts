// A team above its rate gains nothing with long bodies: their 429, read and dropped, costs the gateway about as much as a good request.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { FACADES, FRONTS } from '../support/fronts.ts';
import type { Front } from '../support/fronts.ts';
import { makeTeam, QUOTA_PLAN } from '../support/gateway.ts';
import { request } from '../support/raw-http.ts';
import { startLoadedGateway } from '../evidence/load/loaded-gateway.ts';
import type { LoadedGateway } from '../evidence/load/loaded-gateway.ts';
import { BODY_BYTES, COSTLY_BODIES } from './isolation/costly-bodies.ts';
import { processorMs } from './isolation/processor-time.ts';

/** To a small translation that is answered; a small 429 costs a fraction of it. */
const RATIO = 1.5;
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
  let goodKey = '';

  beforeAll(async () => {
    gateway = await startLoadedGateway({ store, config: { listener, plugins: FACADES, limits: { shed_loop_delay_ms: 0 } } });
    ({ key } = await makeTeam(gateway.store, { ...QUOTA_PLAN, requests_per_second: 1 }));
    ({ key: goodKey } = await makeTeam(gateway.store, { ...QUOTA_PLAN, requests_per_second: 100_000, characters: 1_000_000_000 }));
  });

  afterAll(() => gateway.stop());

  /** CPU milliseconds for one such answer, including the few that are something else. */
  async function cost(front: Front, sender: string, body: string, expected: 200 | 429): Promise<number> {
    const asked = front.translation(sender, ['Hello']);
    const headers = { ...asked.headers, authorization: `Bearer ${sender}` };
    const pid = gateway.process.process.pid!;
    const before = await processorMs(pid);
    let answers = 0;
    for (let i = 0; i < REQUESTS; i++) {
      const { status } = await request({ port: gateway.port, method: 'POST', path: asked.path, headers, body });
      if (status === expected) answers++;
    }
    const ms = ((await processorMs(pid)) - before) / REQUESTS;
    expect(answers).toBeGreaterThan(REQUESTS / 2);
    return ms;
  }

  test.each(FRONTS)(
    'over $name',
    async (front) => {
      const small = front.translation(key, ['Hello']).body;
      const costly = COSTLY_BODIES.find(({ name }) => name === (small.startsWith('{') ? 'brackets that never close' : 'empty fields'))!;
      expect(costly.body.length).toBe(BODY_BYTES);
      const good = front.translation(goodKey, ['Hello']).body;
      let [least, leastSmall, leastGood] = [Infinity, Infinity, Infinity];
      for (let round = 0; round < ROUNDS || (least > RATIO * leastGood && round < ROUNDS_MAX); round++) {
        leastGood = Math.min(leastGood, await cost(front, goodKey, good, 200));
        leastSmall = Math.min(leastSmall, await cost(front, key, small, 429));
        least = Math.min(least, await cost(front, key, costly.body, 429));
      }
      const us = (ms: number): string => `${(ms * 1000).toFixed(0)} µs`;
      process.stdout.write(
        `429 on ${listener}, ${front.name}: ${us(leastSmall)}, with 1 MiB ${us(least)}; a good request ${us(leastGood)}\n`,
      );
      expect(least / leastGood).toBeLessThanOrEqual(RATIO);
    },
    240_000,
  );
});
