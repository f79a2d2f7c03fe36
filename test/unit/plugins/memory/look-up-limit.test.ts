// The longest time that a request waits for a shared Redis, on a virtual clock, with the plugin as configured, whatever Redis does.
import { setImmediate as turn } from 'node:timers/promises';
import { Default } from 'typebox/value';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import type { KnownTexts, TextAnswer, TextWork } from '../../../../src/domain/text-stages.ts';
import memory from '../../../../src/plugins/memory.ts';
import { startFaultProxy } from '../../../support/fault-proxy.ts';
import type { FaultProxy, ProxyFault } from '../../../support/fault-proxy.ts';
import { startRedis } from '../../../support/redis.ts';
import type { RedisServer } from '../../../support/redis.ts';
import { OPTIONS } from './scene.ts';

/** The rest of the documented 20 ms is for the process's own work. */
const LIMIT_MS = 15;

let redis: RedisServer;
let proxy: FaultProxy;
let answers: TextAnswer;
let close: () => unknown = () => undefined;

beforeAll(async () => {
  redis = await startRedis();
  proxy = await startFaultProxy(redis.port);
});
afterEach(async () => {
  vi.useRealTimers();
  close();
  redis.process.kill('SIGCONT');
  await proxy.set({ kind: 'none' });
});
afterAll(async () => {
  await proxy.close();
  await redis.stop();
});

const work = (text: string): TextWork => ({
  x: {} as never,
  teamId: 'T',
  text: [text],
  options: OPTIONS,
  engines: ['default'],
  expected: 'default',
  detectionOnly: false,
});

/** Sets up a gateway's plugin whose Redis has just answered. */
async function connected(): Promise<void> {
  const options = { bytes: 2 ** 20, seconds: 60, store: `redis://127.0.0.1:${proxy.port}`, look_up_ms: LIMIT_MS, charge: 'full' } as const;
  const parts = await memory.setup(options, { warn: () => undefined } as never);
  answers = parts.answers!;
  close = () => parts.close?.();
  const texts = parts.metrics!.find(({ name }) => name === 'texts_total')!;
  const misses = (): unknown => (texts.read() as { miss: number }).miss;
  await expect
    .poll(
      async () => {
        const before = misses();
        await answers(work('connects'));
        return misses() !== before;
      },
      { timeout: 60_000, interval: 20 },
    )
    .toBe(true);
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
  await connected();
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  if (cause === 'frozen') redis.process.kill('SIGSTOP');
  else await proxy.set(cause);
  let known: KnownTexts | undefined;
  void Promise.resolve(answers(work('asked for'))).then((late) => (known = late));
  await vi.advanceTimersByTimeAsync(LIMIT_MS - 1);
  await turn();
  expect(known).toBeUndefined();
  await vi.advanceTimersByTimeAsync(1);
  for (let turns = 0; turns < 3; turns++) await turn();
  expect(known?.translations).toEqual([undefined]);
  // Until Redis is tried again no request waits at all.
  let again: KnownTexts | undefined;
  void Promise.resolve(answers(work('asked for again'))).then((late) => (again = late));
  await turn();
  expect(again?.translations).toEqual([undefined]);
});

test('a Redis whose connection breaks, or that refuses connections, is a miss at once', async () => {
  await connected();
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  await proxy.set({ kind: 'blackhole' });
  const waiting = answers(work('asked for'));
  await turn();
  await proxy.set({ kind: 'refuse' });
  expect((await waiting)!.translations).toEqual([undefined]);
  expect((await answers(work('asked for')))!.translations).toEqual([undefined]);
});
