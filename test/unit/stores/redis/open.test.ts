// Opening the Redis store: which servers and datasets are refused, and what there are warnings about.
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { describe, expect, test } from 'vitest';
import { freePort } from '../../../support/free-port.ts';
import { LAYOUT } from '../../../../src/stores/redis/server-health.ts';
import { LAYOUT_KEY } from '../../../../src/stores/redis/redis-keys.ts';
import { openRedisStore } from '../../../../src/stores/redis/redis-store.ts';
import { redisOfFile } from '../../../support/redis-of-file.ts';
import { memoryLog, refusal, snapshot, walk } from './fixture.ts';

const { plainClient, redisServer } = redisOfFile();

// Concurrently, because some of them wait for a timeout.
describe.concurrent('a server', () => {
  test('that is down is refused, in a sentence that names it without credentials', async () => {
    const port = await freePort();
    const message = await refusal(`redis://user:secret@127.0.0.1:${port}/0`);
    expect(message).toBe(`the store redis://127.0.0.1:${port}/0 cannot be used (ECONNREFUSED): start it or correct the store's URL`);
  });

  test.each(['redis+cluster://127.0.0.1:PORT', 'redis+sentinel://127.0.0.1:PORT/main'])(
    '%s that is down is refused in time',
    async (form) => {
      const startedAtMs = performance.now();
      const message = await refusal(form.replace('PORT', String(await freePort())));
      expect(message).toContain('cannot be used');
      expect(performance.now() - startedAtMs).toBeLessThan(30_000);
    },
  );

  test('that accepts connections and never answers is refused in time', async () => {
    const mute = createServer((socket) => socket.on('error', () => {})).listen(0, '127.0.0.1');
    await once(mute, 'listening');
    const { port } = mute.address() as AddressInfo;
    const startedAtMs = performance.now();
    expect(await refusal(`redis://127.0.0.1:${port}`)).toContain('cannot be used');
    expect(performance.now() - startedAtMs).toBeLessThan(30_000);
    mute.close();
  });

  test('that needs a password is refused without it, and works with it', async () => {
    const server = await redisServer(['--requirepass', 'right']);
    expect(await refusal(server.url)).toContain('put the right user and password');
    const wrong = await refusal(server.url.replace('//', '//:secret@'));
    expect(wrong).toContain('put the right user and password');
    expect(wrong).not.toContain('secret');
    await walk(server.url.replace('//', '//:right@'));
  });

  test.each(['allkeys-lru', 'volatile-ttl'])('that may evict keys by %s is refused', async (policy) => {
    const server = await redisServer(['--maxmemory-policy', policy]);
    expect(await refusal(server.url)).toContain(`maxmemory-policy ${policy}): set it to noeviction`);
  });

  test('that persists nothing gives a warning, one that does gives none', async () => {
    const [forgetful, lasting] = await Promise.all([redisServer(), redisServer(['--appendonly', 'yes'])]);
    const [first, second] = [memoryLog(), memoryLog()];
    await walk(forgetful.url, first);
    await walk(lasting.url, second);
    expect(first.lines).toEqual([expect.stringContaining('keeps nothing across a restart')]);
    expect(second.lines).toEqual([]);
  });

  test('that forbids CONFIG is used with a warning', async () => {
    const server = await redisServer();
    const client = plainClient(server.port);
    await client.call('ACL', 'SETUSER', 'gate', 'on', '>pw', '~lingate:*', '+@all', '-config');
    const log = memoryLog();
    await walk(server.url.replace('//', '//gate:pw@'), log);
    expect(log.lines).toEqual([expect.stringContaining('does not permit CONFIG')]);
  });

  test('older than 7.0 is refused', async () => {
    // There is no such server here: this one answers only the first commands.
    const info = '# Server\r\nredis_version:6.2.14\r\nloading:0\r\n';
    const old = createServer((socket) => {
      socket.on('error', () => {});
      socket.on('data', (chunk) => {
        for (const [command] of chunk.toString().matchAll(/^(?:info|client|hello)\r$/gim)) {
          socket.write(command.toLowerCase().startsWith('info') ? `$${info.length}\r\n${info}\r\n` : '+OK\r\n');
        }
      });
    }).listen(0, '127.0.0.1');
    await once(old, 'listening');
    expect(await refusal(`redis://127.0.0.1:${(old.address() as AddressInfo).port}`)).toContain('is Redis 6.2: use 7.0 or newer');
    old.close();
  });
});

describe('a dataset', () => {
  test('of another layout is refused in one line and left as it is', async () => {
    const { port, url } = await redisServer();
    const client = plainClient(port);
    for (const layout of ['5', String(Number(LAYOUT) + 1)]) {
      await client.set(LAYOUT_KEY, layout);
      const before = await snapshot(client);
      expect(await refusal(url)).toContain(`holds data of layout ${layout}, and this version reads layout ${LAYOUT}`);
      expect(await snapshot(client)).toEqual(before);
    }
  });

  test('is marked with its layout, and recognized by its teams if the mark was lost', async () => {
    const { port, url } = await redisServer();
    const client = plainClient(port);
    await walk(url);
    expect(await client.get(LAYOUT_KEY)).toBe(LAYOUT);
    await client.del(LAYOUT_KEY);
    const store = await openRedisStore({ url, log: memoryLog(), commandTimeoutMs: 5000 });
    expect(await store.teams.listTeams()).toHaveLength(1);
    expect(await client.get(LAYOUT_KEY)).toBe(LAYOUT);
    await store.close();
  });
});
