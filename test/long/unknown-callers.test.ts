// Unknown callers doing their worst beside a working team: it is served, and their cost is bounded by their bytes.
import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { FACADES, FRONTS, V1 } from '../support/fronts.ts';
import type { Front } from '../support/fronts.ts';
import { RawConnection, request, requestBytes } from '../support/raw-http.ts';
import { startLoadedGateway } from '../evidence/load/loaded-gateway.ts';
import type { LoadedGateway } from '../evidence/load/loaded-gateway.ts';
import { COSTLY_BODIES } from './isolation/costly-bodies.ts';

const SLOTS = 50;
const SLOW_BODIES = 300;
const GOOD_REQUESTS = 100;
const FLOOD = 40;
/** CPU time of the event loop for one unknown caller's request with a body of 1 MiB: to read and drop it. */
const UNKNOWN_BODY_MS = 5;

/** CPU milliseconds of the event loop's thread, as the system counts them, so that other users of the machine do not matter. */
const loopThreadMs = async (pid: number): Promise<number> => Number((await readFile(`/proc/${pid}/schedstat`, 'utf8')).split(' ')[0]) / 1e6;

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
      config: { listener, plugins: FACADES, limits: { concurrency: SLOTS, shed_loop_delay_ms: 0 } },
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
});
