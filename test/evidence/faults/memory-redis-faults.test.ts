// The Redis that gateways share as their memory fails in the middle of requests: they get and pay the same as without it.
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { act } from '../../support/door/contracts.ts';
import { startScriptedEngine } from '../../../src/testing.ts';
import type { ScriptedEngine } from '../../../src/testing/scripted-engine.ts';
import { startGateway } from '../../support/gateway.ts';
import type { TestGateway, TestTeam } from '../../support/gateway.ts';
import { startRedis } from '../../support/redis.ts';
import type { RedisServer } from '../../support/redis.ts';
import { textsUnavailable } from '../../support/shared-memory.ts';
import { storePlace } from '../../support/store-place.ts';
import type { StorePlace } from '../../support/store-place.ts';
import { ask, charged, CREDIT, DEAR_PLAN, openMemoryGate, PATIENCE_MS, translated } from './memory-gate.ts';
import type { MemoryGate } from './memory-gate.ts';

interface Fault {
  readonly break: () => unknown;
  readonly mend?: () => unknown;
}

describe('a shared Redis that fails in the middle of requests', () => {
  let place: StorePlace;
  let shared: RedisServer;
  let client: Redis;
  let gate: MemoryGate;
  let engine: ScriptedEngine;
  /** What one of them learns, the other gets from Redis. */
  let gateway: TestGateway;
  let other: TestGateway;
  let team: TestTeam;
  let texts = 0;
  /** The prices in the answers. */
  let billed = 0;

  beforeAll(async () => {
    [place, shared, engine] = await Promise.all([storePlace('sqlite'), startRedis(), startScriptedEngine()]);
    client = new Redis(shared.url).on('error', () => undefined);
    gate = await openMemoryGate(shared.port);
    const startWith = (store: string): Promise<TestGateway> =>
      startGateway({
        store: place.url,
        engineUrls: [engine.url],
        config: {
          plugins: [{ module: 'lingate/plugins/memory', options: { store, charge: 'none' } }],
          engine: { timeout_ms: 20_000 },
        },
      });
    gateway = await startWith(gate.url);
    other = await startWith(shared.url);
    team = await gateway.team(DEAR_PLAN, CREDIT);
  });
  afterAll(async () => {
    client.disconnect();
    await Promise.all([gateway.stop(), other.stop()]);
    gate.close();
    await Promise.all([engine.close(), shared.stop()]);
    await place.remove();
  });

  async function told(by: TestGateway, ...text: readonly string[]): ReturnType<typeof ask> {
    const answer = await ask(by.port, team, ...text);
    billed += answer.billed;
    return answer;
  }

  const newText = (): string => `text ${++texts}`;

  /** A text that Redis has, but this gateway's process has not. */
  async function learnt(): Promise<string> {
    let text: string;
    await expect
      .poll(
        async () => {
          const before = await client.dbsize();
          await told(other, (text = newText()));
          await expect.poll(() => client.dbsize(), { timeout: 1000 }).toBeGreaterThan(before);
          return true;
        },
        { timeout: PATIENCE_MS },
      )
      .toBe(true);
    return text!;
  }

  /** A text learnt through one is found through the other: a pause is over. */
  const works = (): Promise<void> =>
    expect.poll(async () => (await told(gateway, await learnt())).billed, { timeout: PATIENCE_MS }).toBe(0);

  const FAULTS: Readonly<Record<string, Fault>> = {
    killed: {
      break: () => shared.process.kill('SIGKILL'),
      mend: async () => (shared = await startRedis(['--port', String(shared.port)])),
    },
    frozen: { break: () => shared.process.kill('SIGSTOP'), mend: () => shared.process.kill('SIGCONT') },
    flushed: { break: () => client.flushall() },
    full: {
      break: () => client.config('SET', 'maxmemory', '1', 'maxmemory-policy', 'noeviction'),
      mend: () => client.config('SET', 'maxmemory', '0'),
    },
    'full of other bytes': { break: async () => Promise.all((await client.keys('*')).map((key) => client.set(key, 'x'.repeat(100)))) },
  };

  /**
   * The fault comes while the engine has the second text, and the first was looked up before. A busy machine may have no time for the
   * look-up, which has a few milliseconds: then both texts go to the engine, and it is tried again.
   */
  async function brokenAtEngine(fault: Fault): Promise<void> {
    for (let lookedUp = false; !lookedUp;) {
      const asked = [await learnt(), newText()];
      const unavailable = await textsUnavailable(gateway);
      let broken: Promise<unknown> | undefined;
      engine.always((job, response) => {
        broken ??= Promise.resolve(fault.break());
        void broken.then(() => act('ok', job, response, response.socket!));
      });
      const answer = await told(gateway, ...asked);
      engine.forget();
      lookedUp = (await textsUnavailable(gateway)) === unavailable;
      const paid = lookedUp ? asked[1]! : asked.join('');
      expect(answer).toEqual({ texts: asked.map(translated), billed: paid.length });
      await fault.mend?.();
      await works();
    }
  }

  test.each(Object.entries(FAULTS))('%s: requests get what they would get without it, and pay for what they got', async (_what, fault) => {
    await works();
    const atLookUp = [await learnt(), newText()];
    gate.onLookUp = fault.break;
    const one = await told(gateway, ...atLookUp);
    await fault.mend?.();
    await works();

    await brokenAtEngine(fault);
    expect(one.texts).toEqual(atLookUp.map(translated));
    expect([atLookUp[1]!.length, atLookUp.join('').length]).toContain(one.billed);
    await expect.poll(() => charged(gateway.store, team), { timeout: PATIENCE_MS }).toBe(billed);
  });
});
