// The probe's write: a key that expires, on the server, or on each master of a cluster.
import { describe, expect, test } from 'vitest';
import { teamSlot } from '../../../../src/stores/redis/redis-keys.ts';
import type { RedisLink } from '../../../../src/stores/redis/redis-link.ts';
import { writeProbe } from '../../../../src/stores/redis/server-health.ts';
import { emptyRedis } from '../../../support/redis-of-file.ts';

const redis = emptyRedis();
const FULL = { kind: 'unavailable', cause: 'oom' } as const;

describe('the probe', () => {
  test('leaves one small key that expires, however often it runs', async () => {
    const store = await redis.open();
    const before = await redis.client.keys('*');
    for (let i = 0; i < 3; i++) expect(await store.ping()).toBeUndefined();
    const left = (await redis.client.keys('*')).filter((key) => !before.includes(key));
    expect(left).toEqual([expect.stringMatching(/^lingate:\{0\}:probe:[0-9a-f]{12}$/)]);
    expect(await redis.client.pttl(left[0]!)).toBeGreaterThan(0);
  });
});

describe('of a cluster, the probe', () => {
  const masters = ['a:1', 'b:2', 'c:3', 'd:4', 'e:5'];

  /** A cluster with five equal ranges of slots; the masters in `away` take no writes. */
  function clustered(away: readonly string[]): { probe: ReturnType<typeof writeProbe>; written: string[] } {
    const slots = Array.from({ length: 16_384 }, (_, slot) => [masters[Math.floor((slot * masters.length) / 16_384)]!, 'replica:9']);
    const written: string[] = [];
    const set = (key: string) => {
      const node = slots[teamSlot(/\{(\d+)\}/.exec(key)![1]!)]![0]!;
      written.push(node);
      return Promise.resolve(away.includes(node) ? FULL : 'OK');
    };
    const link = { redis: { slots, set }, ask: (command: (with_: unknown) => unknown) => command({ set }) };
    return { probe: writeProbe(link as unknown as RedisLink), written };
  }

  test('writes to each master once', async () => {
    const { probe, written } = clustered([]);
    expect(await probe()).toBeUndefined();
    expect(written.toSorted()).toEqual(masters);
  });

  test.each([
    [['b:2'], { ...FULL, server: 'b:2', partly: true }],
    [masters.slice(1), { ...FULL, partly: true }],
  ])('with %s away reports a part of the cluster', async (away, expected) => {
    expect(await clustered(away).probe()).toMatchObject(expected);
  });

  test('with all masters away reports the whole cluster', async () => {
    const fault = await clustered(masters).probe();
    expect(fault).toMatchObject(FULL);
    expect(fault?.partly).toBeUndefined();
  });
});
