// Floods of unknown keys: few look-ups reach the store, nothing of them stays, and good keys are served meanwhile.
import { randomBytes } from 'node:crypto';
import { Agent } from 'node:http';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { newKey } from '../../support/door/terms.ts';
import { closedLoop, times } from '../faults/pace.ts';
import { startLoadedGateway } from '../load/loaded-gateway.ts';
import type { LoadedGateway } from '../load/loaded-gateway.ts';
import { countBy, openLoop, sendOne } from '../load/open-loop.ts';
import type { Sent } from '../load/open-loop.ts';

describe.each(['redis', 'sqlite'] as const)('a gateway on %s', (store) => {
  let site: LoadedGateway;

  beforeAll(async () => {
    site = await startLoadedGateway({ store });
  });

  afterAll(() => site.stop());

  async function flood(count: number, keyOf: (index: number) => string): Promise<Record<string, number>> {
    const agent = new Agent({ keepAlive: true });
    const sent: Sent[] = [];
    await closedLoop(times(count), 30, async (index) => sent.push(await sendOne(agent, { port: site.port, key: keyOf(index) })));
    agent.destroy();
    return countBy(sent);
  }

  /** Commands that the Redis has run, every look-up among them. None with the other store. */
  async function commands(): Promise<number> {
    if (site.redis === undefined) return 0;
    const client = new Redis(site.redis.port, '127.0.0.1', { protocol: 2 });
    try {
      return Number(/total_commands_processed:(\d+)/.exec(await client.info('stats'))?.[1]);
    } finally {
      client.disconnect();
    }
  }

  test('a flood of a few unknown keys reaches the store once a second for each of them', async () => {
    const keys = Array.from({ length: 10 }, () => newKey('live', randomBytes));
    const before = await commands();
    const startedAtMs = performance.now();
    const statuses = await flood(1500, (index) => keys[index % keys.length]!);
    const seconds = Math.ceil((performance.now() - startedAtMs) / 1000);
    expect(statuses).toEqual({ '401 unauthorized': 1500 });
    const misses = await site.metric('lingate_key_lookups_total{result="miss"}');
    expect(misses).toBeGreaterThanOrEqual(keys.length);
    expect(misses).toBeLessThanOrEqual(keys.length * (seconds + 1));
    // Besides look-ups there are only a few probes per second, and our own query.
    expect((await commands()) - before).toBeLessThanOrEqual(misses + 10 * seconds + 20);
  });

  test('a flood of ever new unknown keys leaves nothing in the store, and a good key is served meanwhile', async () => {
    const team = await site.team();
    await openLoop({ port: site.port, key: team.key, perSecond: 10, seconds: 0.1 });
    const client = site.redis === undefined ? undefined : new Redis(site.redis.port, '127.0.0.1', { protocol: 2 });
    // A charge creates keys of its own, and follows its answer.
    await vi.waitUntil(async () => (await site.metric('lingate_open_settlements')) === 0, 60_000);
    // Except what the gateway's probe writes, which comes and goes.
    const keys = async () => (await client?.keys('*'))?.filter((name) => !/:probe:|:janitor$/.test(name)).toSorted();
    const keysBefore = await keys();
    const [good, statuses] = await Promise.all([
      openLoop({ port: site.port, key: team.key, perSecond: 50, seconds: 2 }),
      flood(1500, () => newKey('live', randomBytes)),
    ]);
    expect(countBy(good)).toEqual({ '200 ok': good.length });
    expect(statuses).toEqual({ '401 unauthorized': 1500 });
    expect(await keys()).toEqual(keysBefore);
    client?.disconnect();
  });
});
