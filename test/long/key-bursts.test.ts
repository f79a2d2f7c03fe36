// Limits of keys and of their team together, in bursts of unknown order: exact over two instances of each store, and over two gateways on one Redis.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { answered } from '../../src/index.ts';
import { MovableClock, startScriptedEngine } from '../../src/testing.ts';
import type { ScriptedEngine } from '../../src/testing/scripted-engine.ts';
import { redisBacking, sqliteBacking } from '../support/backings.ts';
import { QUOTA_PLAN, startGateway } from '../support/gateway.ts';
import type { TestGateway } from '../support/gateway.ts';
import { startRedis } from '../support/redis.ts';
import type { RedisServer } from '../support/redis.ts';
import { Bursts } from '../evidence/faults/bursts.ts';
import { seeded } from '../evidence/faults/seeded.ts';

const REQUESTS = 100_000;
const ROUNDS = 12;

describe.each([
  ['redis', () => redisBacking()],
  ['sqlite', () => sqliteBacking('normal')],
] as const)('two instances on %s', (_name, make) => {
  test(`${REQUESTS} requests of limited keys: no limit is exceeded, and nothing that fits is refused`, { timeout: 600_000 }, async () => {
    const [clock, random, backing] = [new MovableClock(), seeded(), await make()];
    const stores = [await backing.open(clock), await backing.open(clock)];
    let asked = 0;
    while (asked < REQUESTS) {
      const keys = Array.from({ length: 3 }, () => ({ requestsPerSecond: random.between(3, 18), characters: random.between(50, 750) }));
      const limits = { requestsPerSecond: random.between(20, 60), characterLimit: random.between(200, 2200) };
      const options = { requests: [10, 70], charactersMost: 30, leasesMs: [60_000] } as const;
      const burst = await Bursts.of({ ...options, stores: () => stores, random, limits, keys }, clock.nowMs());
      for (let round = 0; round < ROUNDS; round++) {
        clock.step(random.between(0, 2) === 0 ? random.between(1000, 3000) : random.between(0, 400));
        await burst.round(clock.nowMs());
      }
      expect([...new Set(burst.violations)]).toEqual([]);
      asked += burst.asked;
    }
    for (const store of stores) await store.close();
    await backing.remove();
  });
});

describe('two gateways on one Redis', () => {
  let redis: RedisServer;
  let engine: ScriptedEngine;
  let gateways: readonly TestGateway[];

  beforeAll(async () => {
    [redis, engine] = await Promise.all([startRedis(), startScriptedEngine()]);
    const one = (): Promise<TestGateway> => startGateway({ listener: 'node', store: redis.url, engineUrls: [engine.url] });
    gateways = [await one(), await one()];
  });

  afterAll(async () => {
    for (const gateway of gateways) await gateway.stop();
    await engine.close();
    await redis.stop();
  });

  const translate = async (index: number, key: string): Promise<number> => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const body = JSON.stringify({ text: ['0123456789'], target_lang: 'DE' });
    const response = await fetch(`http://127.0.0.1:${gateways[index % 2]!.port}/v1/translate`, { method: 'POST', headers, body });
    await response.arrayBuffer();
    return response.status;
  };

  test('a key’s characters are exact, whichever gateway is called, and both refuse a disabled one at once', async () => {
    const [gateway] = gateways;
    const team = await gateway!.team({ ...QUOTA_PLAN, requests_per_second: 1000 });
    answered(await gateway!.store.teams.updateKey(team.keyId, { limits: { characters: 105 } }));
    const statuses = await Promise.all(Array.from({ length: 60 }, (_none, index) => translate(index, team.key)));
    expect(Map.groupBy(statuses, (status) => status).get(200)).toHaveLength(10);
    expect(statuses.filter((status) => status === 402)).toHaveLength(50);
    answered(await gateway!.store.teams.updateKey(team.keyId, { limits: { characters: null }, disabled: true }));
    expect([await translate(0, team.key), await translate(1, team.key)]).toEqual([401, 401]);
    answered(await gateway!.store.teams.updateKey(team.keyId, { disabled: false }));
    expect([await translate(0, team.key), await translate(1, team.key)]).toEqual([200, 200]);
    await expect.poll(async () => answered(await gateway!.store.teams.usage(team.teamId))?.characters).toBe(120);
  });
});
