// One connection to an engine: when it is reused, how it ends, and that no caller gets bytes that were not meant for it.
import { afterEach, describe, expect, test } from 'vitest';
import { lengthAnswer, make, RawEngine, rested, wireTo } from '../raw-engine.ts';
import type { Pool, PoolLimits } from '../../../../src/engines/http1/pool.ts';

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const item of open.splice(0).toReversed()) await item.close();
});

async function scene(limits: Partial<PoolLimits> = {}): Promise<{ engine: RawEngine; wire: Pool }> {
  const engine = await new RawEngine().listen();
  const wire = wireTo(`http://127.0.0.1:${engine.port}`, limits);
  open.push(engine, { close: () => wire.destroy() });
  return { engine, wire };
}

describe('a connection', () => {
  test('is reused', async () => {
    const { engine, wire } = await scene();
    for (let i = 0; i < 5; i++) {
      expect(await make(wire, { body: String(i) }).result).toBe(`200 ${i}`);
      await rested();
    }
    expect(engine.connections.map(({ requests }) => requests)).toEqual([5]);
  });

  test('for a second attempt is new, serves one call, announces that, and is closed', async () => {
    const { engine, wire } = await scene();
    await make(wire).result;
    await rested();
    for (let i = 0; i < 2; i++) expect(await make(wire, {}, 'fresh').result).toBe('200 body');
    await engine.until(() => engine.open === 1);
    expect(engine.connections.map(({ requests, closed }) => [requests, closed])).toEqual([
      [1, false],
      [1, true],
      [1, true],
    ]);
    expect(engine.connections[1]!.received).toContain('\r\nConnection: close\r\n');
  });

  test.each([
    ['a whole answer', lengthAnswer('poison')],
    ['one byte', '\n'],
  ])('that gets %s while it is idle is dropped, and no caller gets that', async (_name, poison) => {
    const { engine, wire } = await scene({ connectionsMax: 1 });
    expect(await make(wire).result).toBe('200 body');
    await rested();
    engine.connections[0]!.socket.write(poison);
    await engine.until(() => engine.open === 0);
    expect(await make(wire, { body: 'next' }).result).toBe('200 next');
    expect(engine.connections.map(({ requests }) => requests)).toEqual([1, 1]);
  });

  test.each([
    ['in the same chunk', 0],
    ['in the next chunk', 1],
  ])('that gets a second answer after the first, %s, is dropped, although a call waits for it', async (_name, later) => {
    const { engine, wire } = await scene({ connectionsMax: 1 });
    engine.respond = ({ socket }, body) => {
      if (later === 0) socket.write(lengthAnswer(body) + lengthAnswer('poison'));
      else for (const answer of [body, 'poison']) socket.write(lengthAnswer(answer));
    };
    const made = ['a', 'b', 'c'].map((body) => make(wire, { body }));
    expect(await Promise.all(made.map(({ result }) => result))).toEqual(['200 a', '200 b', '200 c']);
    expect(engine.connections.map(({ requests }) => requests)).toEqual([1, 1, 1]);
  });

  test('that the engine closes while it is idle is not reused', async () => {
    const { engine, wire } = await scene({ connectionsMax: 1 });
    await make(wire).result;
    await rested();
    engine.connections[0]!.socket.end();
    await engine.until(() => engine.open === 0);
    expect(await make(wire).result).toBe('200 body');
    expect(engine.connections).toHaveLength(2);
  });

  test('that the engine closes right after its answer, unannounced, breaks no waiting call', async () => {
    const { engine, wire } = await scene({ connectionsMax: 1 });
    engine.respond = ({ socket }, body) => void socket.end(lengthAnswer(body));
    const made = ['a', 'b', 'c'].map((body) => make(wire, { body }));
    expect(await Promise.all(made.map(({ result }) => result))).toEqual(['200 a', '200 b', '200 c']);
  });

  test('is closed without using the answer if the engine answers before it has the whole request', async () => {
    const { engine, wire } = await scene();
    const body = 'x'.repeat(16 << 20);
    const made = make(wire, { body });
    await engine.until(() => engine.connections.length === 1);
    const { socket } = engine.connections[0]!;
    socket.pause().write(lengthAnswer('enough'));
    expect(await made.result).toBe('unasked');
    socket.resume();
    await engine.until(() => engine.open === 0);
    expect(engine.connections[0]!.requests).toBe(0);
  });

  test.each([
    ['is closed before any answer', ''],
    ['ends inside the head', 'HTTP/1.1 200 OK\r\nContent-Le'],
    ['ends after an interim response', 'HTTP/1.1 100 Continue\r\n\r\n'],
    ['ends inside a body', 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhell'],
    ['ends inside a chunk', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhell'],
    ['ends before the last chunk', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n'],
    ['ends after the last chunk', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n'],
  ])('that %s is a reset, and the request is not sent again', async (_name, bytes) => {
    const { engine, wire } = await scene();
    engine.respond = ({ socket }) => void socket.end(bytes);
    expect(await make(wire).result).toBe('reset');
    engine.respond = ({ socket }) => void socket.write(bytes, () => socket.resetAndDestroy());
    expect(await make(wire).result).toBe('reset');
    expect(engine.connections.map(({ requests }) => requests)).toEqual([1, 1]);
  });

  test('ends an answer without a length by closing', async () => {
    const { engine, wire } = await scene();
    engine.respond = ({ socket }) => {
      socket.write('HTTP/1.1 200 OK\r\n\r\nhel');
      setImmediate(() => socket.end('lo'));
    };
    expect(await make(wire).result).toBe('200 hello');
  });

  test('that carries more than the limit is closed at once', async () => {
    const { engine, wire } = await scene({ responseBytesMax: 10, connectionsMax: 1 });
    engine.respond = ({ socket }) => void socket.write('HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\n');
    expect(await make(wire).result).toBe('too_large');
    await engine.until(() => engine.open === 0);
  });

  test('is kept for four seconds, or a second less than the engine announces', async () => {
    let nowMs = 0;
    const { engine, wire } = await scene({ nowMs: () => nowMs });
    for (const [fields, keptMs] of [
      ['', 4000],
      ['Keep-Alive: timeout=60\r\n', 4000],
      ['Keep-Alive: timeout=3\r\n', 2000],
    ] as const) {
      const before = engine.connections.length;
      engine.respond = ({ socket }, body) => void socket.write(lengthAnswer(body, fields));
      for (const passesMs of [keptMs - 1, keptMs, 0]) {
        expect(await make(wire).result).toBe('200 body');
        await rested();
        nowMs += passesMs;
      }
      expect(engine.connections.slice(before).map(({ requests }) => requests)).toEqual([2, 1]);
      nowMs += 4000;
    }
    // It is closed even if no call needs it any more.
    await engine.until(() => engine.open === 0);
  });

  test('is not kept for an engine that keeps it for a second or less', async () => {
    const { engine, wire } = await scene();
    engine.respond = ({ socket }, body) => void socket.write(lengthAnswer(body, 'Keep-Alive: timeout=1\r\n'));
    expect(await make(wire).result).toBe('200 body');
    await engine.until(() => engine.open === 0);
  });
});
