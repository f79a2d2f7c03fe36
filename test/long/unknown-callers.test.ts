// Unknown callers doing their worst beside a working team: it is served, and their cost is bounded by their bytes.
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { FACADES, FRONTS, V1 } from '../support/fronts.ts';
import type { Front } from '../support/fronts.ts';
import { RawConnection, request, requestBytes } from '../support/raw-http.ts';
import { startLoadedGateway } from '../evidence/load/loaded-gateway.ts';
import type { LoadedGateway } from '../evidence/load/loaded-gateway.ts';
import { COSTLY_BODIES } from './isolation/costly-bodies.ts';
import { loopThreadMs, processorMs } from './isolation/processor-time.ts';

const PLACES = 50;
const SLOW_BODIES = 300;
const GOOD_REQUESTS = 100;
const FLOOD = 40;
/** CPU time of the event loop for one unknown caller's request with a body of 1 MiB: to read and drop it. */
const UNKNOWN_BODY_MS = 5;

let drawn = 0;
const randomKey = (): string => `la_live_${String(drawn++).padStart(40, 'q')}`;

describe.each([
  ['uws', 'sqlite'],
  ['uws', 'redis'],
  ['node', 'sqlite'],
  ['node', 'redis'],
] as const)('on %s with %s', (listener, store) => {
  let gateway: LoadedGateway;
  let key = '';

  beforeAll(async () => {
    gateway = await startLoadedGateway({
      store,
      config: { listener, plugins: FACADES, limits: { concurrency: PLACES, shed_loop_delay_ms: 0 } },
    });
    ({ key } = await gateway.team());
  });

  afterAll(() => gateway.stop());

  /** Statuses of good requests, and how many had each. */
  async function goodOnes(front: Front = V1): Promise<Readonly<Record<number, number>>> {
    const statuses: Record<number, number> = {};
    for (let i = 0; i < GOOD_REQUESTS; i++) {
      const { status } = await request({ port: gateway.port, ...front.translation(key, ['Hello']) });
      statuses[status] = (statuses[status] ?? 0) + 1;
    }
    return statuses;
  }

  test.each(FRONTS)('bodies that never end, of random well-formed keys, refuse nobody else ($name)', async (front) => {
    const held = await Promise.all(
      Array.from({ length: SLOW_BODIES }, async () => {
        const connection = await RawConnection.open({ port: gateway.port });
        const asked = front.translation(randomKey(), ['Hello']);
        const bytes = requestBytes({ ...asked, headers: { ...asked.headers, 'content-length': '100000' } });
        connection.send(bytes);
        return connection;
      }),
    );
    expect(await goodOnes(front)).toEqual({ 200: GOOD_REQUESTS });
    for (const connection of held) connection.destroy();
  });

  test('nor do bodies of its own key, or without any', async () => {
    const held = await Promise.all(
      Array.from({ length: SLOW_BODIES }, async (_none, index) => {
        const connection = await RawConnection.open({ port: gateway.port });
        const path = index % 2 === 0 ? '/v1/translate' : '/translate';
        const authorization: Record<string, string> = index % 2 === 0 ? { authorization: `Bearer ${key}` } : {};
        const headers = { ...authorization, 'content-type': 'application/json', 'content-length': '100' };
        connection.send(requestBytes({ method: 'POST', path, headers }));
        return connection;
      }),
    );
    // Longer than bodies may take before they are counted.
    await delay(600);
    expect(await goodOnes()).toEqual({ 200: GOOD_REQUESTS });
    for (const connection of held) connection.destroy();
  });

  test('a body of 1 MiB with an unknown key costs by its bytes, not by its contents', async () => {
    const costly = COSTLY_BODIES.filter(({ name }) => ['brackets that never close', 'all names different', 'empty fields'].includes(name));
    const pid = gateway.process.process.pid!;
    for (const { name, contentType, body } of costly) {
      const path = contentType === 'application/json' ? '/v1/translate' : '/v2/translate';
      let least = Infinity;
      for (let i = 0; i < FLOOD; i++) {
        const before = await loopThreadMs(pid);
        const headers = { authorization: `Bearer ${randomKey()}`, 'content-type': contentType };
        const { status } = await request({ port: gateway.port, method: 'POST', path, headers, body });
        expect([401, 403]).toContain(status);
        least = Math.min(least, (await loopThreadMs(pid)) - before);
      }
      expect([name, least < UNKNOWN_BODY_MS ? 'cheap' : least]).toEqual([name, 'cheap']);
    }
  });

  test('the most they can do, in figures', async () => {
    const pid = gateway.process.process.pid!;
    /** The median of this many: garbage collection is not their cost. */
    const perOne = async (count: number, one: () => Promise<unknown>): Promise<number> => {
      const each: number[] = [];
      for (let i = 0; i < count; i++) {
        const before = await processorMs(pid);
        await one();
        each.push((await processorMs(pid)) - before);
      }
      return each.toSorted((x, y) => x - y)[Math.floor(count / 2)]!;
    };
    const post = async (token: string | undefined, body: string, expected = 401): Promise<void> => {
      const authorization: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` };
      const { status } = await request({
        port: gateway.port,
        method: 'POST',
        path: '/v1/translate',
        headers: { ...authorization, 'content-type': 'application/json' },
        body,
      });
      expect(status).toBe(expected);
    };
    const small = JSON.stringify({ text: ['Hello'], target_lang: 'DE' });
    const mebibyte = ' '.repeat(1_048_576);
    const unknown = randomKey();
    const figures = {
      connection: await perOne(100, async () => (await RawConnection.open({ port: gateway.port })).destroy()),
      'no key': await perOne(100, () => post(undefined, small)),
      'another unknown key each time': await perOne(100, () => post(randomKey(), small)),
      'the same unknown key': await perOne(100, () => post(unknown, small)),
      '1 MiB, no key': await perOne(30, () => post(undefined, mebibyte)),
      '1 MiB, another unknown key each time': await perOne(30, () => post(randomKey(), mebibyte)),
      'a good request, to compare': await perOne(100, () => post(key, small, 200)),
    };
    const shown = Object.entries(figures).map(([what, ms]) => `${what} ${(ms * 1000).toFixed(0)}`);
    process.stdout.write(`µs of processor on ${listener} with ${store}: ${shown.join(' · ')}\n`);
    expect(figures['another unknown key each time']).toBeLessThan(3 * figures['a good request, to compare']);
  });
});
