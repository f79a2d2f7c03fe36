// A connection through a sentinel whose answers and announcements the test controls.
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { expect, onTestFinished, test, vi } from 'vitest';
import { redisConnection } from '../../../../src/stores/redis/redis-connection.ts';
import { parseRedisUrl } from '../../../../src/stores/redis/redis-url.ts';
import { redisOfFile } from '../../../support/redis-of-file.ts';

const { plainClient, redisServer } = redisOfFile();

async function connectionBySentinel() {
  const master = await redisServer();
  const sentinel = await startSentinel(master.port);
  const connection = redisConnection(parseRedisUrl(`redis+sentinel://127.0.0.1:${sentinel.port}/main`), 500);
  const direct = plainClient(master.port);
  onTestFinished(async () => {
    connection.disconnect();
    direct.disconnect();
    await sentinel.close();
  });
  await connection.connect();
  await expect.poll(() => sentinel.subscribers.size).toBe(1);
  return { connection, sentinel, cut: () => direct.call('CLIENT', 'KILL', 'TYPE', 'normal') };
}

test('a new master that is announced during connecting does not end the connection for good', async () => {
  const { connection, sentinel, cut } = await connectionBySentinel();
  const ended = vi.fn<() => void>();
  connection.on('end', ended);
  sentinel.hold();
  await cut();
  await expect.poll(() => sentinel.held()).toBe(1);
  sentinel.announce();
  await expect.poll(() => sentinel.subscribers.size).toBe(0);
  sentinel.release();
  await expect.poll(() => connection.status).toBe('ready');
  expect(await connection.ping()).toBe('PONG');
  // If this fails, the library has fixed the bug, and our workaround can be removed.
  expect(ended).toHaveBeenCalledOnce();
});

test('a closed connection stays closed', async () => {
  const { connection, sentinel, cut } = await connectionBySentinel();
  sentinel.hold();
  await cut();
  await expect.poll(() => sentinel.held()).toBe(1);
  const connecting = vi.fn<() => void>();
  connection.on('connecting', connecting);
  connection.disconnect();
  sentinel.release();
  await expect.poll(() => connection.status).toBe('end');
  // Longer than the pause before a reconnection.
  await new Promise((resolve) => setTimeout(resolve, 200));
  expect([connection.status, connecting.mock.calls.length]).toEqual(['end', 0]);
});

/** Names the same master every time. */
async function startSentinel(masterPort: number) {
  const subscribers = new Set<Socket>();
  const sockets = new Set<Socket>();
  const held: (() => void)[] = [];
  let isHolding = false;
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => socket.destroy());
    socket.on('close', () => subscribers.delete(socket));
    socket.on('data', (data) => {
      for (const command of data
        .toString()
        .split(/^\*\d+\r\n/m)
        .slice(1)) {
        const words = command.split('\r\n').filter((_, i) => i % 2 === 1);
        const answer = () => socket.write(answerTo(words));
        if (words[0] === 'subscribe') subscribers.add(socket);
        if (isHolding && words[1] === 'get-master-addr-by-name') held.push(answer);
        else answer();
      }
    });
  });
  const answerTo = ([name, what]: readonly string[]): string => {
    if (name === 'subscribe') return reply(['subscribe', '+switch-master']).replace('*2', '*3') + ':1\r\n';
    if (name !== 'sentinel') return '+OK\r\n';
    return what === 'get-master-addr-by-name' ? reply(['127.0.0.1', String(masterPort)]) : '*0\r\n';
  };
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    subscribers,
    held: () => held.length,
    hold: () => void (isHolding = true),
    release: () => {
      isHolding = false;
      for (const answer of held.splice(0)) answer();
    },
    announce: () => {
      for (const socket of subscribers) socket.write(reply(['message', '+switch-master', `main 127.0.0.1 1 127.0.0.1 ${masterPort}`]));
    },
    close: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

function reply(texts: readonly string[]): string {
  return `*${texts.length}\r\n${texts.map((text) => `$${text.length}\r\n${text}\r\n`).join('')}`;
}
