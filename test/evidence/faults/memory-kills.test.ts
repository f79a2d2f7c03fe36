// Gateways are killed with an unsettled answer from the memory: nothing is charged wrongly, and nothing stays held.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Store } from '../../../src/ports/store.ts';
import { act } from '../../support/door/contracts.ts';
import { startScriptedEngine } from '../../../src/testing.ts';
import type { ScriptedEngine } from '../../../src/testing/scripted-engine.ts';
import { startFaultProxy } from '../../support/fault-proxy.ts';
import { makeTeam } from '../../support/gateway.ts';
import type { TestTeam } from '../../support/gateway.ts';
import { startGatewayProcess } from '../../support/gateway-process.ts';
import type { GatewayProcess } from '../../support/gateway-process.ts';
import { inProcess } from '../../support/lingate-command.ts';
import { startRedis } from '../../support/redis.ts';
import type { RedisServer } from '../../support/redis.ts';
import { storePlace } from '../../support/store-place.ts';
import type { StorePlace } from '../../support/store-place.ts';
import { ask, charged, CREDIT, DEAR_PLAN, openMemoryGate, PATIENCE_MS, translated } from './memory-gate.ts';
import type { MemoryGate } from './memory-gate.ts';
import { openWitness } from './witness.ts';

const LANGUAGES = fileURLToPath(new URL('../../../config/languages.yaml', import.meta.url));
const LEASE_SECONDS = 3;

describe.each([
  { kind: 'sqlite', charge: 'none' },
  { kind: 'redis', charge: 'full' },
] as const)('gateways that are killed: $kind store, charge: $charge', ({ kind, charge }) => {
  let place: StorePlace;
  let shared: RedisServer;
  let gate: MemoryGate;
  let engine: ScriptedEngine;
  let store: Store;
  let team: TestTeam;
  let gateway: GatewayProcess;
  let file: string;
  /** From now on no settlement reaches the store; the returned function ends that. */
  let hold: () => () => Promise<void>;
  const closing: (() => unknown)[] = [];
  let release: (() => Promise<void>) | undefined;
  let kills = 0;

  beforeAll(async () => {
    [place, shared, engine] = await Promise.all([storePlace(kind), startRedis(), startScriptedEngine()]);
    gate = await openMemoryGate(shared.port);
    let { url } = place;
    if (place.redis === undefined) {
      hold = () => {
        const lock = new DatabaseSync(`${place.folder}/lingate.db`, { timeout: 5000 });
        lock.exec('BEGIN IMMEDIATE');
        return () => Promise.resolve(lock.close());
      };
    } else {
      const proxy = await startFaultProxy(place.redis.port);
      closing.push(() => proxy.close());
      url = `redis://127.0.0.1:${proxy.port}`;
      hold = () => {
        void proxy.set({ kind: 'blackhole' });
        return () => proxy.set({ kind: 'none' });
      };
    }
    file = join(place.folder, 'killed.yaml');
    const config = {
      listen: '127.0.0.1:0',
      ops: '127.0.0.1:0',
      languages: LANGUAGES,
      store: url,
      store_options: { command_timeout_ms: 5000 },
      engine: { urls: [engine.url], timeout_ms: 1000 },
      limits: { reservation_seconds: LEASE_SECONDS },
      plugins: [{ module: 'lingate/plugins/memory', options: { store: gate.url, charge } }],
    };
    await writeFile(file, JSON.stringify(config));
    gateway = await start();
    store = await openWitness(place.url);
    team = await makeTeam(store, DEAR_PLAN, CREDIT);
  });
  afterEach(async () => {
    gate.onLookUp = undefined;
    await release?.();
    release = undefined;
    engine.forget();
  });
  afterAll(async () => {
    await gateway.end('SIGKILL');
    await store.close();
    gate.close();
    await Promise.all([engine.close(), shared.stop(), ...closing.map((close) => close())]);
    await place.remove();
  });

  const start = (): Promise<GatewayProcess> => startGatewayProcess({ args: ['serve', '--config', file] });
  const sent = (): readonly string[] => engine.requests.flatMap(({ body }) => (JSON.parse(body) as { text: string[] }).text);
  /** For remembered texts. */
  const ofHits = (...texts: readonly string[]): number => (charge === 'full' ? texts.join('').length : 0);
  const expectCharged = (characters: number): Promise<void> =>
    expect.poll(() => charged(store, team), { timeout: PATIENCE_MS }).toBe(characters);

  /** It did not shut down; another takes its place. */
  async function kill(): Promise<void> {
    await gateway.end('SIGKILL');
    kills++;
    await release?.();
    release = undefined;
    engine.forget();
    gateway = await start();
  }

  test('charge nothing that is not settled, and remembered texts are charged as before', { timeout: 4 * PATIENCE_MS }, async () => {
    await untilConnected();
    await ask(gateway.port, team, 'known');
    const before = await settled();

    // The memory has answered; the rest is at the engine.
    engine.always('hang');
    const left = ask(gateway.port, team, 'known', 'rest A').catch(() => 'broken off');
    await engine.until(() => sent().includes('rest A'));
    await kill();
    expect(await left).toBe('broken off');
    await expectCharged(before);

    // The engine has answered the rest, and the caller has all of it.
    const part = await remembering('rest B', (rest) => {
      engine.always((asking, response) => {
        release = hold();
        act('ok', asking, response, response.socket!);
      });
      return ask(gateway.port, team, 'known', rest);
    });
    expect(part.answer).toEqual({ texts: ['known', part.rest].map(translated), billed: part.rest.length + ofHits('known') });
    expect(release).toBeDefined();
    await kill();
    await expectCharged(part.before);

    // The memory has answered all of it, and the caller has that.
    const all = await remembering('', () => {
      gate.onLookUp = () => (release = hold());
      return ask(gateway.port, team, 'known');
    });
    expect(all.answer).toEqual({ texts: [translated('known')], billed: ofHits('known') });
    expect([release === undefined, sent()]).toEqual([false, []]);
    await kill();
    await expectCharged(all.before);

    const again = await remembering('rest A', (rest) => ask(gateway.port, team, 'known', rest));
    expect(again.answer).toEqual({ texts: ['known', again.rest].map(translated), billed: again.rest.length + ofHits('known') });
    await expectCharged(again.before + again.answer.billed);
    const { status, stdout, stderr } = await inProcess(['store', 'check', '--store', place.url]);
    expect({ status, stdout, stderr }).toMatchObject({ status: 0 });
  });

  /**
   * Calls `attempt` until the memory has answered it in time. A gateway waits 15 ms for it, which a busy machine may exceed; then all
   * texts went to the engine, and what that cost is not what is judged here.
   */
  async function remembering<T>(text: string, attempt: (rest: string) => Promise<T>): Promise<{ answer: T; rest: string; before: number }> {
    for (let n = 0; ; n++) {
      // An attempt that is repeated may have left its text in the memory.
      const rest = n === 0 ? text : `${text} ${n}`;
      const before = await untilConnected();
      const answer = await attempt(rest);
      if (!sent().includes('known')) return { answer, rest, before };
      // This process knows the text by itself now, without a look-up.
      engine.always('ok');
      await kill();
    }
  }

  /** A new gateway has no connection to Redis at first. Returns the charge once it has one. */
  async function untilConnected(): Promise<number> {
    let n = 0;
    const connected = async (): Promise<boolean> => {
      let asked = false;
      gate.onLookUp = () => (asked = true);
      await ask(gateway.port, team, `connects ${kills}.${n++}`);
      return asked;
    };
    await expect.poll(connected, { timeout: PATIENCE_MS }).toBe(true);
    gate.onLookUp = undefined;
    engine.forget();
    return settled();
  }

  async function settled(): Promise<number> {
    await expect.poll(() => charged(store, team), { timeout: PATIENCE_MS }).toBeDefined();
    return (await charged(store, team))!;
  }
});
