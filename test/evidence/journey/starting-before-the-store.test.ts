// serve before its store: the ops listener runs and reports not ready, the public port stays closed until the store is there.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, test } from 'vitest';
import { freePort } from '../../support/free-port.ts';
import { lingate, start } from '../../support/lingate-command.ts';
import { startRedis } from '../../support/redis.ts';
import { startedUntil } from '../../support/started.ts';

const LANGUAGES = fileURLToPath(new URL('../../../config/languages.yaml', import.meta.url));

const { folder } = startedUntil(afterAll);

async function waiting(waitSeconds: number, more: Readonly<Record<string, unknown>> = {}) {
  const [store, ops, listen] = [await freePort(), await freePort(), await freePort()];
  const file = join(folder, `${store}.yaml`);
  // JSON is valid YAML.
  const config = {
    listen: `127.0.0.1:${listen}`,
    ops: `127.0.0.1:${ops}`,
    store: `redis://127.0.0.1:${store}`,
    store_options: { wait_seconds: waitSeconds },
    languages: LANGUAGES,
    ...more,
  };
  writeFileSync(file, JSON.stringify(config));
  return { store, ops: `http://127.0.0.1:${ops}`, url: `http://127.0.0.1:${listen}`, args: ['serve', '--config', file] };
}

/** The status, or `closed` if nothing listens. */
const status = async (url: string): Promise<number | 'closed'> =>
  fetch(url).then(
    async (response) => {
      await response.arrayBuffer();
      return response.status;
    },
    () => 'closed' as const,
  );

const ADMIN = { admin: { token: 'a-token-of-the-operator-for-this-test' } };

// Concurrently, because they mostly wait.
describe.concurrent('serve, before its store is there', () => {
  test.for([
    ['one process', [], {}],
    ['two workers and the admin API', ['--workers', '2'], ADMIN],
  ] as const)('%s: is alive, is not ready, and starts serving when the store is there', async ([, more, config], { expect }) => {
    const { store, ops, url, args } = await waiting(60, config);
    const gateway = start([...args, ...more]);
    try {
      await expect.poll(() => status(`${ops}/livez`)).toBe(200);
      expect(await status(`${ops}/readyz`)).toBe(503);
      expect(await status(`${ops}/console/`)).toBe(503);
      expect(await status(`${url}/health`)).toBe('closed');
      const redis = await startRedis(['--port', String(store)]);
      try {
        await expect.poll(() => status(`${ops}/readyz`)).toBe(200);
        expect(await status(`${url}/health`)).toBe(200);
        gateway.child.kill('SIGTERM');
        expect(await gateway.ended).toMatchObject({ status: 0 });
      } finally {
        await redis.stop();
      }
    } finally {
      await gateway.end();
    }
  });

  test('SIGTERM ends the wait at once, with workers too', async ({ expect }) => {
    const { ops, args } = await waiting(600);
    const gateway = start([...args, '--workers', '2']);
    try {
      await expect.poll(() => status(`${ops}/livez`)).toBe(200);
      await delay(300);
      const askedAtMs = performance.now();
      gateway.child.kill('SIGTERM');
      expect(await gateway.ended).toMatchObject({ status: 143 });
      expect(performance.now() - askedAtMs).toBeLessThan(60_000);
    } finally {
      await gateway.end();
    }
  });

  test('when the store never comes: one line, and status 1', async ({ expect }) => {
    const { store, args } = await waiting(1);
    const { status: ended, stderr } = await lingate(args);
    expect([ended, stderr.trim().split('\n')]).toEqual([1, [expect.stringContaining(`redis://127.0.0.1:${store} cannot be used`)]]);
    expect(stderr).toContain('within the 1 s of store_options.wait_seconds');
  });
});
