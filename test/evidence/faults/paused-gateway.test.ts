// A gateway that is stopped and continued, as when its machine is suspended: the store is not blamed for the pause.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { startScriptedEngine } from '../../../src/testing.ts';
import { startFaultProxy } from '../../support/fault-proxy.ts';
import { startGatewayProcess } from '../../support/gateway-process.ts';
import { startRedis } from '../../support/redis.ts';

const PAUSE_MS = 1000;
const PAUSES = 6;

// They mostly wait.
test.concurrent.each(['uws', 'node'])('pauses of a second never show as a fault of the store (listener: %s)', async (listener) => {
  const folder = await mkdtemp(join(tmpdir(), 'lingate-paused-'));
  const [redis, engine] = await Promise.all([startRedis(), startScriptedEngine()]);
  let onProbe = (): void => undefined;
  const tap = await startFaultProxy(redis.port, (request) => {
    if (request.includes(':probe:')) onProbe();
  });
  const config = join(folder, 'lingate.yaml');
  // JSON is valid YAML.
  const members = { listener, listen: '127.0.0.1:0', ops: '127.0.0.1:0', engine: { urls: [engine.url] } };
  await writeFile(config, JSON.stringify({ ...members, store: `redis://127.0.0.1:${tap.port}/0` }));
  const gateway = await startGatewayProcess({ args: ['serve', '--config', config] });
  const seen = new Set<string>();
  const ended = new AbortController();
  const ask = async (url: string): Promise<void> => {
    while (!ended.signal.aborted) {
      const { status } = await fetch(url);
      seen.add(`${new URL(url).pathname} ${status}`);
      await delay(5);
    }
  };
  const asked = [ask(`${gateway.opsUrl}/readyz`), ask(`${gateway.url}/health`)];
  try {
    for (let i = 0; i < PAUSES; i++) {
      await delay(600 + i * 50);
      // Half of the pauses begin while a probe is in flight; its answer then waits in the socket.
      if (i % 2 === 0) await new Promise<void>((resolve) => (onProbe = resolve));
      gateway.process.kill('SIGSTOP');
      await delay(PAUSE_MS);
      gateway.process.kill('SIGCONT');
    }
    await delay(600);
  } finally {
    ended.abort();
    gateway.process.kill('SIGCONT');
    await Promise.all(asked);
    await gateway.end('SIGTERM');
    await tap.close();
    await Promise.all([redis.stop(), engine.close(), rm(folder, { recursive: true, force: true })]);
  }
  expect([...seen].toSorted()).toEqual(['/health 200', '/readyz 200']);
  expect(gateway.output()).not.toContain('the store does not answer');
});
