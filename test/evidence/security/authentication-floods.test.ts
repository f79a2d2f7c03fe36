// Floods of unknown keys: few look-ups reach the store, nothing of them stays, and good keys are served meanwhile.
import { randomBytes } from 'node:crypto';
import { Agent } from 'node:http';
import { Redis } from 'ioredis';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { digestOf, newKey } from '../../support/door/terms.ts';
import { LruKeyCache } from '../../support/door/gateways.ts';
import type { KeyDigest } from '../../../src/domain/api-key.ts';
import { atOnce } from '../load/at-once.ts';
import { startLoadedGateway } from '../load/loaded-gateway.ts';
import type { LoadedGateway } from '../load/loaded-gateway.ts';
import { countBy, openLoop, sendOne } from '../load/open-loop.ts';
import type { Sent } from '../load/open-loop.ts';

const LOOKUPS_AT_ONCE_MAX = 1000;
const digest = (): KeyDigest => digestOf(newKey('live', randomBytes));

describe('the key cache with a store that does not answer yet', () => {
  function slowStore() {
    const asked: KeyDigest[] = [];
    const answers: (() => void)[] = [];
    let nowMs = 1;
    const directory = {
      find(sought: KeyDigest): Promise<undefined> {
        asked.push(sought);
        return new Promise((resolve) => answers.push(() => resolve(undefined)));
      },
    };
    const cache = new LruKeyCache({ directory, keysMax: 100, now: () => nowMs, onLookup: () => undefined });
    return {
      asked,
      cache,
      later: (ms: number): void => {
        nowMs += ms;
      },
      answer: () => {
        for (const answer of answers.splice(0)) answer();
      },
    };
  }

  test('looks up each key once, however many requests send it, and not again for a second', async () => {
    const { asked, cache, answer, later } = slowStore();
    const sought = digest();
    const found = Array.from({ length: 500 }, () => cache.find(sought));
    answer();
    expect(await Promise.all(found.map(async (each) => each))).toEqual(Array.from({ length: 500 }, () => undefined));
    expect(asked).toEqual([sought]);
    expect(cache.peek(sought)).toBe('unknown');
    later(1001);
    // The cache reads its clock once a millisecond.
    await expect.poll(() => cache.peek(sought)).toBeUndefined();
  });

  test('has at most a thousand look-ups in flight; further callers are told that the service is busy', async () => {
    const { asked, cache, answer } = slowStore();
    const found = Array.from({ length: 3 * LOOKUPS_AT_ONCE_MAX }, () => cache.find(digest()));
    expect(asked).toHaveLength(LOOKUPS_AT_ONCE_MAX);
    answer();
    const busy = (await Promise.all(found.map(async (each) => each))).filter((answered) => answered !== undefined);
    expect(busy).toHaveLength(2 * LOOKUPS_AT_ONCE_MAX);
    expect(busy[0]).toEqual({ kind: 'unavailable', cause: 'busy' });
    // The slots are free again.
    void cache.find(digest());
    expect(asked).toHaveLength(LOOKUPS_AT_ONCE_MAX + 1);
    answer();
  });

  test('forgets the oldest unknown keys first, and never a good one for them', async () => {
    const owner = { keyId: 'k', teamId: 't', mode: 'live' as const };
    const good = digest();
    let asked = 0;
    const directory = { find: (sought: KeyDigest) => (asked++, sought === good ? owner : undefined) };
    const cache = new LruKeyCache({ directory, keysMax: 1, now: () => 0, onLookup: () => undefined });
    void cache.find(good);
    const flood = Array.from({ length: 25_000 }, digest);
    for (const sought of flood) void cache.find(sought);
    expect(cache.peek(good)).toEqual(owner);
    expect(flood.filter((sought) => cache.peek(sought) === 'unknown')).toHaveLength(10_000);
    expect(asked).toBe(25_001);
  });
});

describe.each(['redis', 'sqlite'] as const)('a gateway on %s', (store) => {
  let site: LoadedGateway;

  afterEach(() => site.stop());

  async function flood(count: number, keyOf: (index: number) => string): Promise<Record<string, number>> {
    const agent = new Agent({ keepAlive: true });
    const sent: Sent[] = [];
    await atOnce(30, count, async (index) => sent.push(await sendOne(agent, { port: site.port, key: keyOf(index) })));
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
    site = await startLoadedGateway({ store });
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
    site = await startLoadedGateway({ store });
    const team = await site.team();
    await openLoop({ port: site.port, key: team.key, perSecond: 10, seconds: 0.1 });
    const client = site.redis === undefined ? undefined : new Redis(site.redis.port, '127.0.0.1', { protocol: 2 });
    // A charge creates keys of its own, and follows its answer.
    await vi.waitUntil(async () => (await site?.metric('lingate_open_settlements')) === 0, 60_000);
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
