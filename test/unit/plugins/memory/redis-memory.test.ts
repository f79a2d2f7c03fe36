// A Redis shared by gateways: what is found there, and that a slow, silent, full, unreachable or damaged one soon gives a miss,
// after exactly the configured time on a virtual clock.
import { Redis } from 'ioredis';
import { setImmediate as turn } from 'node:timers/promises';
import { Default } from 'typebox/value';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import type { KnownTexts, TextAnswer } from '../../../../src/domain/text-stages.ts';
import memory from '../../../../src/plugins/memory.ts';
import type { Exchange } from '../../../../src/core/exchange.ts';
import { RedisMemory } from '../../../../src/plugins/memory/redis-memory.ts';
import { watchStalls } from '../../../evidence/faults/stall.ts';
import { startFaultProxy } from '../../../support/fault-proxy.ts';
import type { FaultProxy, ProxyFault } from '../../../support/fault-proxy.ts';
import { startRedis } from '../../../support/redis.ts';
import type { RedisServer } from '../../../support/redis.ts';
import { AGE_MAX_MS, memoryScene, OPTIONS, translated } from './scene.ts';
import type { MemoryScene } from './scene.ts';

/** For what ends within 20 ms on an idle machine: on a busy one the process itself may be delayed, and stand still in between. */
const SOON_MS = 1000;

const WORK = { options: OPTIONS, engines: ['default'], expected: 'default', detectionOnly: false };

let redis: RedisServer;
let client: Redis;
let proxy: FaultProxy;
let away: string[];
const open: Pick<RedisMemory, 'close'>[] = [];

beforeAll(async () => {
  redis = await startRedis();
  client = new Redis(redis.url);
  proxy = await startFaultProxy(redis.port);
});
afterAll(async () => {
  client.disconnect();
  await proxy.close();
  await redis.stop();
});
beforeEach(async () => {
  away = [];
  await proxy.set({ kind: 'none' });
  await client.flushall();
});
afterEach(() => {
  vi.useRealTimers();
  for (const one of open.splice(0)) one.close();
  redis.process.kill('SIGCONT');
});

/** A gateway with a process memory of its own, connected to Redis. `nowMs` moves both of its clocks; Redis's own continues. */
async function gateway(lookUpMs = 20_000): Promise<MemoryScene & { shared: RedisMemory }> {
  const shared = new RedisMemory({
    url: `redis://127.0.0.1:${proxy.port}`,
    ageMaxMs: AGE_MAX_MS,
    lookUpMs,
    now: () => scene.nowMs,
    onAway: (cause) => away.push(cause),
  });
  open.push(shared);
  const scene = Object.assign(memoryScene({ shared }), { shared });
  await expect.poll(() => found(scene)).toEqual([undefined]);
  return scene;
}

/** Looks a text up, each time after the pause that follows a failure. */
function found(scene: MemoryScene & { readonly shared: RedisMemory }): Promise<unknown> {
  scene.nowMs += 1000;
  return scene.shared.get('T', ['probe']);
}

const keysIn = (): Promise<string[]> => client.keys('*');
/** Waits until there are `count` keys: the memory does not wait for its writes. */
const written = (count: number): Promise<void> => expect.poll(async () => (await keysIn()).length).toBe(count);

async function soon<T>(what: () => Promise<T>): Promise<T> {
  const stalls = watchStalls();
  const startedAtMs = performance.now();
  const result = await what();
  const tookMs = performance.now() - startedAtMs;
  stalls.stop();
  expect(tookMs).toBeLessThan(SOON_MS + stalls.longestMs());
  return result;
}

describe('a Redis that works', () => {
  test('has neither texts nor anything derived from them in its keys, and another team does not find them', async () => {
    const one = await gateway();
    const ofTeam = async (teamId: string): Promise<string[]> =>
      (await keysIn()).filter((key) => key.startsWith(`lingate:memory:${teamId}:`));
    await one.ask({ teamId: 'A', text: ['Hello'] });
    // A write of the test before may still arrive.
    await expect.poll(() => ofTeam('A')).toEqual([expect.stringMatching(/^lingate:memory:A:[\w-]{43}$/)]);
    expect((await (await gateway()).ask({ teamId: 'B', text: ['Hello'] })).sent).toEqual(['Hello']);
    await expect.poll(() => ofTeam('B')).toHaveLength(1);
  });

  test('forgets a team or everything, leaves other keys alone, and a gateway that was told uses nothing older', async () => {
    const [one, other] = [await gateway(), await gateway()];
    await client.set('another program', 'x');
    const texts = Array.from({ length: 30 }, (_none, i) => `text ${i}`);
    for (const teamId of ['A', 'AB', '*', 'A?']) await one.ask({ teamId, text: texts });
    await written(121);
    expect(await one.shared.forget('A')).toBe(30);
    expect(await one.shared.forget('*')).toBe(30);
    expect(await one.shared.forget('A?')).toBe(30);
    await written(31);
    other.nowMs = one.nowMs + 1;
    await other.memory.forget('AB', () => Promise.resolve());
    expect((await other.ask({ teamId: 'AB', text: ['text 1'] })).sent).toEqual(['text 1']);
    expect(await one.shared.forget(undefined)).toBe(30);
    expect(await keysIn()).toEqual(['another program']);
  });
});

test('what was in progress elsewhere when a gateway forgot is not used there, although it is written afterwards', async () => {
  const [reply, untold] = [await gateway(), await gateway()];
  untold.nowMs = reply.nowMs;
  const lookUp = ({ memory: texts, nowMs }: MemoryScene, text: readonly string[]) =>
    texts.answer({ x: { startedAtMs: nowMs } as Exchange, teamId: 'T', text, ...WORK });
  const inProgress = await lookUp(untold, ['before']);
  reply.nowMs += 10;
  await reply.memory.forget('T', () => Promise.resolve());
  reply.nowMs += 10;
  untold.nowMs = reply.nowMs;
  inProgress!.learn!([translated('before', OPTIONS, 'default')], 'default');
  await untold.ask({ text: ['since then'] });
  await written(2);
  expect((await lookUp(reply, ['before', 'since then']))!.translations).toEqual([undefined, translated('since then', OPTIONS, 'default')]);
});

describe('soon a miss', () => {
  test.each<[string, (key: string) => Promise<unknown>]>([
    ['a value of another program', (key) => client.set(key, 'x'.repeat(100))],
    ['a list', (key) => client.del(key).then(() => client.lpush(key, 'x'))],
    ['the value of another key', async (key) => client.set(key, (await client.getBuffer((await keysIn()).find((one) => one !== key)!))!)],
    ['a damaged value', async (key) => client.setrange(key, 70, '\0')],
  ])('is %s', async (_what, spoil) => {
    await (await gateway()).ask({ text: ['A long enough text', 'Another text'] });
    await written(2);
    const scene = await gateway();
    const [key] = await keysIn();
    await spoil(key!);
    const { sent, translations } = await scene.ask({ text: ['A long enough text', 'Another text'] });
    expect(sent).toHaveLength(1);
    expect(translations).toEqual(['A long enough text', 'Another text'].map((text) => translated(text, OPTIONS, 'default')));
  });

  test('is a slow or silent Redis; after a second one request tries it again, and it is used when it is back', async () => {
    const scene = await gateway(15);
    away = [];
    await proxy.set({ kind: 'blackhole' });
    expect((await soon(() => scene.ask({ text: ['a'] }))).sent).toEqual(['a']);
    expect(scene.counts.texts).toEqual({ hit: 0, miss: 0, unavailable: 1 });
    expect(away).toEqual(['timeout']);
    const { swallowed } = proxy;
    expect(swallowed).toBeGreaterThan(0);
    for (let i = 0; i < 50; i++) await scene.ask({ text: [`b${i}`] });
    expect([proxy.swallowed, away]).toEqual([swallowed, ['timeout']]);
    scene.nowMs += 1000;
    await soon(() => Promise.all(Array.from({ length: 50 }, (_none, i) => scene.ask({ text: [`c${i}`] }))));
    expect(away).toEqual(['timeout', 'timeout']);
    await proxy.set({ kind: 'none' });
    await expect.poll(() => found(scene)).toEqual([undefined]);
  });
});

/** The rest of the documented 20 ms is for the process's own work. */
const LIMIT_MS = 15;

const look = (text: string) => ({ ...WORK, x: {} as never, teamId: 'T', text: [text] });

/** Sets up a gateway's plugin whose Redis has just answered. */
async function connected(): Promise<TextAnswer> {
  const options = { bytes: 2 ** 20, seconds: 60, store: `redis://127.0.0.1:${proxy.port}`, look_up_ms: LIMIT_MS, charge: 'full' } as const;
  const parts = await memory.setup(options, { warn: () => undefined } as never);
  const answers = parts.answers!;
  open.push({ close: () => void parts.close?.() });
  const texts = parts.metrics!.find(({ name }) => name === 'texts_total')!;
  const misses = (): unknown => (texts.read() as { miss: number }).miss;
  await expect
    .poll(
      async () => {
        const before = misses();
        await answers(look('connects'));
        return misses() !== before;
      },
      { timeout: 60_000, interval: 20 },
    )
    .toBe(true);
  return answers;
}

test('by default a look-up may take 15 ms', () => {
  expect(Default(memory.options, {})).toMatchObject({ look_up_ms: LIMIT_MS });
});

/** The faults of the proxy, and Redis stopped by a signal. */
type Cause = ProxyFault | 'frozen';

test.each<[string, Cause]>([
  ['is silent', { kind: 'blackhole' }],
  ['is slow', { kind: 'delay', delayMs: 60_000 }],
  ['answers byte by byte', { kind: 'drip', bytes: 1, everyMs: 60_000 }],
  ['is frozen', 'frozen'],
])('a Redis that %s is a miss after 15 ms and not before', async (_what, cause) => {
  const answers = await connected();
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  if (cause === 'frozen') redis.process.kill('SIGSTOP');
  else await proxy.set(cause);
  let known: KnownTexts | undefined;
  void Promise.resolve(answers(look('asked for'))).then((lookedUp) => (known = lookedUp));
  await vi.advanceTimersByTimeAsync(LIMIT_MS - 1);
  await turn();
  expect(known).toBeUndefined();
  await vi.advanceTimersByTimeAsync(1);
  for (let turns = 0; turns < 3; turns++) await turn();
  expect(known?.translations).toEqual([undefined]);
  // Until Redis is tried again no request waits at all.
  let again: KnownTexts | undefined;
  void Promise.resolve(answers(look('asked for again'))).then((lookedUp) => (again = lookedUp));
  await turn();
  expect(again?.translations).toEqual([undefined]);
});

test('a Redis whose connection breaks, or that refuses connections, is a miss at once', async () => {
  const answers = await connected();
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  await proxy.set({ kind: 'blackhole' });
  const waiting = answers(look('asked for'));
  await turn();
  await proxy.set({ kind: 'refuse' });
  expect((await waiting)!.translations).toEqual([undefined]);
  expect((await answers(look('asked for')))!.translations).toEqual([undefined]);
});
