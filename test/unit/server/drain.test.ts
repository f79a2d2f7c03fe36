// Draining the public listener: which callers it waits for, how long, and when it ends.
import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { Gateway } from '../../../src/core/gateway.ts';
import { json } from '../../../src/core/outcome.ts';
import { Router } from '../../../src/core/router.ts';
import { drain } from '../../../src/server/lifecycle.ts';
import { RawConnection, requestBytes } from '../../support/raw-http.ts';
import { LISTENERS, problemWriter, startTestServer } from './test-gateway.ts';
import type { Start, TestServer } from './test-gateway.ts';

const DEADLINE_MS = 15_000;

const drained = ({ listener, gateway }: Pick<TestServer, 'listener' | 'gateway'>, quietMs: number): Promise<number> =>
  drain({ listeners: [listener], gateway, deadlineMs: DEADLINE_MS, quietMs });

const LONG = JSON.stringify('x'.repeat(32 * 1024 * 1024));

/** Answers every request with more than the buffers of two sockets hold. */
async function startLongAnswers(start: Start): Promise<Pick<TestServer, 'listener' | 'gateway'>> {
  const route = { method: 'GET', path: '/', takesBody: false, steps: [{ kind: 'head', name: 'long', run: () => json(LONG) }] } as const;
  const gateway = new Gateway({
    router: new Router([route], []),
    around: [],
    newId: () => '01JD3Q7V6Y8Z0XKQ4T5N2M9HRC',
    now: () => performance.now(),
    requestMs: DEADLINE_MS,
    reportBug: (_x, where) => expect(where).toBe('nowhere'),
  });
  const listener = await start({ gateway, problems: problemWriter(), host: '127.0.0.1', port: 0, bodyBytesMax: 1024 });
  return { gateway, listener };
}

describe.each(LISTENERS)('a drain of the %s listener', (_name, start) => {
  test('ends at once if there are no connections', async () => {
    const server = await startTestServer(start);
    expect(server.listener.connections).toBe(0);
    // If only the quiet time ended it, it would continue to the deadline.
    const startedAtMs = performance.now();
    expect(await drained(server, DEADLINE_MS)).toBe(0);
    expect(performance.now() - startedAtMs).toBeLessThan(DEADLINE_MS / 2);
    server.close();
  });

  test('ends as soon as the last caller was told to disconnect', async () => {
    const server = await startTestServer(start);
    const callers = await Promise.all([1, 2, 3].map(() => RawConnection.open(server)));
    for (const caller of callers) {
      caller.send(requestBytes({ path: '/sync' }));
      await caller.response();
    }
    expect(server.listener.connections).toBe(3);
    const startedAtMs = performance.now();
    const over = drained(server, DEADLINE_MS);
    for (const caller of callers) {
      caller.send(requestBytes({ path: '/async' }));
      expect((await caller.response()).headers['connection']).toBe('close');
      expect(await caller.ended).toBe('fin');
      caller.destroy();
    }
    expect(await over).toBe(0);
    expect(performance.now() - startedAtMs).toBeLessThan(DEADLINE_MS / 2);
    expect(server.listener.connections).toBe(0);
    server.close();
  });

  test('ends after the quiet time for silent callers, once all others have gone', async () => {
    const server = await startTestServer(start);
    const silent = await RawConnection.open(server);
    const busy = await RawConnection.open(server);
    busy.send(requestBytes({ path: '/wait' }));
    await server.until(() => server.gateway.inFlight === 1);
    const over = drained(server, 100);
    // Three times the quiet time: while one is served, none is cut off.
    await delay(300);
    silent.send(requestBytes({ path: '/sync' }));
    expect((await silent.response()).status).toBe(200);
    const another = server.listener.connections;
    server.letGo();
    expect((await busy.response()).status).toBe(200);
    expect(await over).toBe(0);
    expect(another).toBe(1);
    expect(await Promise.all([silent.ended, busy.ended])).toEqual(['fin', 'fin']);
    server.close();
  });

  test('cuts a connection that never sent anything', async () => {
    const server = await startTestServer(start);
    const silent = await RawConnection.open(server);
    await expect.poll(() => server.listener.connections).toBe(1);
    expect(await drained(server, 50)).toBe(0);
    await silent.ended;
    await expect.poll(() => server.listener.connections).toBe(0);
    server.close();
  });

  test('waits for a caller who reads a long answer slowly', async () => {
    const server = await startLongAnswers(start);
    const slow = connect({ port: server.listener.address.port, host: '127.0.0.1' });
    await once(slow, 'connect');
    let bytes = 0;
    slow.on('data', (chunk: Buffer) => (bytes += chunk.length));
    slow.pause();
    slow.write(requestBytes({ path: '/' }));
    await expect.poll(() => server.listener.unsent).toBe(1);
    const over = drained(server, 50);
    // Six times the quiet time, without a byte of progress.
    await delay(300);
    slow.resume();
    await once(slow, 'end');
    slow.destroy();
    expect(bytes).toBeGreaterThan(LONG.length);
    expect(await over).toBe(0);
    server.gateway.close();
  });
});
