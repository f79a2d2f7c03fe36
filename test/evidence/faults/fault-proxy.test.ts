// The fault proxy does to connections exactly what it is set to do.
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { startFaultProxy } from '../../support/fault-proxy.ts';
import type { FaultProxy } from '../../support/fault-proxy.ts';

let received: string;
let server: Server;
let proxy: FaultProxy;
let clients: Socket[];

beforeEach(async () => {
  received = '';
  clients = [];
  // Answers every request with its text in capitals; `bye` closes after the answer.
  server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.on('data', (chunk) => {
      received += chunk.toString();
      socket.write(chunk.toString().toUpperCase());
      if (chunk.toString() === 'bye') socket.end();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  proxy = await startFaultProxy((server.address() as AddressInfo).port);
});

afterEach(async () => {
  for (const client of clients) client.destroy();
  await proxy.close();
  server.close();
  await once(server, 'close');
});

interface Line {
  readonly socket: Socket;
  text(): string;
  /** The pieces in which it arrived. */
  readonly pieces: readonly string[];
  readonly ended: Promise<string>;
}

async function dial(): Promise<Line> {
  const socket = connect(proxy.port, '127.0.0.1');
  clients.push(socket);
  const pieces: string[] = [];
  socket.on('data', (chunk) => void pieces.push(chunk.toString()));
  const ended = new Promise<string>((resolve) => {
    socket.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? 'error'));
    socket.on('end', () => resolve('end'));
  });
  await once(socket, 'connect');
  return { socket, pieces, text: () => pieces.join(''), ended };
}

async function exchange(line: Line, text: string): Promise<void> {
  const before = line.text();
  line.socket.write(text);
  await expect.poll(() => line.text()).toBe(before + text.toUpperCase());
}

describe('the fault proxy', () => {
  test('passes everything on at first, including a close', async () => {
    const line = await dial();
    await exchange(line, 'hello');
    line.socket.write('bye');
    expect(await line.ended).toBe('end');
    expect(line.text()).toBe('HELLOBYE');
    expect(proxy.cuts).toBe(0);
  });

  test('delays replies and keeps their order', async () => {
    const line = await dial();
    await proxy.set({ kind: 'delay', delayMs: 80 });
    const startedAtMs = performance.now();
    line.socket.write('one');
    await expect.poll(() => received).toBe('one');
    await proxy.set({ kind: 'none' });
    line.socket.write('two');
    await expect.poll(() => line.text()).toBe('ONETWO');
    expect(performance.now() - startedAtMs).toBeGreaterThanOrEqual(79);
  });

  test('drips replies', async () => {
    const line = await dial();
    await proxy.set({ kind: 'drip', bytes: 2, everyMs: 15 });
    await exchange(line, 'hello');
    expect(line.pieces).toEqual(['HE', 'LL', 'O']);
  });

  test('lets nothing through when it is a black hole, and what was sent into it is lost', async () => {
    const line = await dial();
    await exchange(line, 'before');
    await proxy.set({ kind: 'blackhole' });
    line.socket.write('lost');
    const other = await dial();
    other.socket.write('lost as well');
    await expect.poll(() => proxy.swallowed).toBe('lostlost as well'.length);
    await proxy.set({ kind: 'none' });
    await exchange(line, 'after');
    expect(received).toBe('beforeafter');
  });

  test('resets after this many bytes', async () => {
    const line = await dial();
    await proxy.set({ kind: 'cut_after', bytes: 4 });
    line.socket.write('hello');
    // Node reports a reset that it finds together with the last bytes as an end.
    expect(await line.ended).toMatch(/^(?:ECONNRESET|end)$/);
    expect(line.text()).toBe('HELL');
    expect(proxy.cuts).toBe(1);
  });

  test('cuts exactly the replies that are drawn, after their requests have gone through', async () => {
    const draws = [false, true, false];
    await proxy.set({ kind: 'cut_reply', draw: () => draws.shift() ?? false });
    const line = await dial();
    await exchange(line, 'one');
    line.socket.write('two');
    expect(await line.ended).toBe('ECONNRESET');
    await exchange(await dial(), 'three');
    expect(received).toBe('onetwothree');
    expect(line.text()).toBe('ONE');
  });

  test('refuses connections, and recovers', async () => {
    const line = await dial();
    await proxy.set({ kind: 'refuse' });
    expect(await line.ended).toBe('ECONNRESET');
    await expect(dial()).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    await proxy.set({ kind: 'none' });
    await exchange(await dial(), 'again');
  });

  test('cuts every connection on command', async () => {
    const line = await dial();
    await exchange(line, 'hello');
    proxy.cut();
    expect(await line.ended).toBe('ECONNRESET');
    await exchange(await dial(), 'again');
  });
});
