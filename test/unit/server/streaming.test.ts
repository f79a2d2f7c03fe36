// Streamed bodies and answers: their bytes, backpressure, aborts, and what is notified.
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { RawConnection, request, requestBytes } from '../../support/raw-http.ts';
import { cancelled, madeBytes, piece } from './flows.ts';
import { LISTENERS, startTestServer } from './test-gateway.ts';
import type { TestServer } from './test-gateway.ts';
import { sumOf } from './test-routes.ts';

const MIB = 1_048_576;

describe.each(LISTENERS)('the %s listener', (_name, start) => {
  let server: TestServer;

  beforeAll(async () => {
    server = await startTestServer(start);
  });

  afterAll(() => server.close());

  test.each(['sized', 'chunked'])('a %s answer arrives complete and unchanged', async (framing) => {
    for (const [bytes, size] of [
      [1, 1],
      [65_537, 1000],
      [3 * MIB, 65_536],
      [200, 1],
    ] as const) {
      const answer = await download(server.port, `/flow?${bytes},${framing},end,${size}`);
      expect(answer.complete).toBe(true);
      expect(answer.body.equals(piece(0, bytes))).toBe(true);
      expect(answer.head.includes('Transfer-Encoding: chunked')).toBe(framing === 'chunked');
      if (framing === 'sized') expect(answer.head).toContain(`Content-Length: ${bytes}\r\n`);
    }
    await server.until(() => server.settled.filter((line) => line === 'GET /flow 200').length >= 4);
  });

  test('the connection serves the next request after a stream', async () => {
    const connection = await RawConnection.open({ port: server.port });
    for (const framing of ['sized', 'chunked', 'sized']) {
      connection.send(requestBytes({ path: `/flow?100000,${framing}` }));
      expect((await connection.response()).body.length).toBeGreaterThan(0);
      connection.send(requestBytes({ path: '/sync' }));
      expect((await connection.response()).body).toBe('{"sync":true}');
    }
    connection.destroy();
  });

  test.each(['close', 'close, x'])('an answer to a request with Connection: %s arrives complete, and the connection ends', async (wish) => {
    const asked = async (path: string): Promise<void> => {
      const connection = await RawConnection.open({ port: server.port });
      connection.send(requestBytes({ path, headers: { Connection: wish } }));
      const answer = await connection.response();
      expect(answer.header('connection')).toBe('close');
      expect(Buffer.from(answer.bytes).equals(piece(0, Number(/\d+/.exec(path)![0])))).toBe(true);
      expect(await connection.ended).toBe('fin');
      expect(connection.unread).toBe('');
    };
    await Promise.all(['/flow?1,chunked,end,1', '/flow?100000,chunked', '/flow?100000,sized', '/flow?0,chunked'].map(asked));
  });

  test('nothing after an answer that ends its connection is handled', async () => {
    const before = server.handled.length;
    const connection = await RawConnection.open({ port: server.port });
    connection.send(requestBytes({ path: '/flow?1000,chunked', headers: { Connection: 'close, x' } }));
    await connection.response();
    connection.send(requestBytes({ path: '/sync' }));
    await connection.ended;
    expect(server.handled.length).toBe(before + 1);
  });

  test('a source that fails ends the connection, and the request is settled as broken', async () => {
    for (const framing of ['sized', 'chunked']) {
      const before = server.settled.length;
      const answer = await download(server.port, `/flow?100000,${framing},fail`);
      expect(answer.complete).toBe(false);
      await server.until(() => server.settled.length > before);
      expect(server.settled.at(-1)).toBe('GET /flow engine_unavailable');
    }
  });

  test('a caller who does not read pauses the source, which continues when the caller reads', async () => {
    for (const framing of ['sized', 'chunked']) {
      const madeBefore = madeBytes;
      const socket = connect(server.port, '127.0.0.1');
      socket.write(requestBytes({ path: `/flow?${24 * MIB},${framing}` }));
      // Until the system's buffers are full.
      await expect.poll(() => unchangedFor(() => madeBytes)).toBe(true);
      expect(madeBytes - madeBefore).toBeLessThan(20 * MIB);
      const answer = await collect(socket);
      expect(answer.complete).toBe(true);
      expect(answer.body.equals(piece(0, 24 * MIB))).toBe(true);
    }
  });

  test('a caller who leaves cancels the source, and the request is settled as closed', async () => {
    for (const framing of ['sized', 'chunked']) {
      const [before, cancelledBefore] = [server.settled.length, cancelled];
      const socket = connect(server.port, '127.0.0.1');
      socket.write(requestBytes({ path: `/flow?${64 * MIB},${framing}` }));
      await new Promise((resolve) => socket.once('data', resolve));
      socket.resetAndDestroy();
      await server.until(() => server.settled.length > before);
      expect(server.settled.at(-1)).toBe('GET /flow client_closed');
      expect(cancelled).toBe(cancelledBefore + 1);
    }
  });

  test.each(['/read', '/read-later'])('a body sent to %s is read completely, chunk by chunk', async (path) => {
    for (const bytes of [1, 70_000, 5 * MIB]) {
      const body = piece(0, bytes);
      const sized = await upload(server.port, path, body, false);
      expect(JSON.parse(sized.body.toString())).toEqual({ announced: bytes, bytes, sum: sumOf(body) });
      const chunked = await upload(server.port, path, body, true);
      expect(JSON.parse(chunked.body.toString())).toEqual({ announced: 'chunked', bytes, sum: sumOf(body) });
    }
    const empty = await request({ port: server.port, method: 'POST', path, body: '' });
    expect(empty.body).toBe('{"body":"none"}');
  });

  describe('with a request timeout of a second', () => {
    let hurried: TestServer;

    beforeAll(async () => {
      hurried = await startTestServer(start, { requestMs: 1000 });
    });

    afterAll(() => hurried.close());

    test.each([
      ['of a length', 'Content-Length: 1000'],
      ['in chunks', 'Transfer-Encoding: chunked'],
    ])('a body %s that trickles in is refused, however steadily, and its connection ends', async (_kind, field) => {
      const trickle = async (path: string): Promise<void> => {
        const socket = connect(hurried.port, '127.0.0.1');
        socket.write(`POST ${path} HTTP/1.1\r\nHost: a\r\n${field}\r\n\r\n`);
        const drip = setInterval(() => socket.write(field.startsWith('T') ? '1\r\nx\r\n' : 'x'), 50);
        const answer = await collect(socket.on('error', () => undefined)).finally(() => clearInterval(drip));
        expect(answer.head).toMatch(/^HTTP\/1\.1 400 /);
        // It may end while the step has paused it briefly.
        expect(answer.body.toString()).toMatch(path === '/echo' ? /did not arrive in time/ : /did not arrive in time|it broke/);
      };
      await Promise.all(['/read', '/read-later', '/echo'].map(trickle));
    });

    test('a body of a mebibyte in two seconds has enough time', async () => {
      const socket = connect(hurried.port, '127.0.0.1');
      const body = piece(0, 2 * MIB);
      socket.write(`POST /read HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: ${body.length}\r\n\r\n`);
      const answer = collect(socket);
      for (let at = 0; at < body.length; at += body.length / 16) {
        socket.write(body.subarray(at, at + body.length / 16));
        await new Promise((resolve) => setTimeout(resolve, 150));
      }
      expect(JSON.parse((await answer).body.toString())).toMatchObject({ bytes: body.length, sum: sumOf(body) });
    });

    test('the time in which a step pauses a body does not count against its caller', async () => {
      const socket = connect(hurried.port, '127.0.0.1');
      socket.write(`POST /hold-up HTTP/1.1\r\nHost: a\r\nContent-Length: ${64 * MIB}\r\n\r\n`);
      socket.write(piece(0, 2000));
      const answer = await collect(socket.on('error', () => undefined));
      expect(answer.head).toMatch(/^HTTP\/1\.1 503 /);
    });
  });

  test('a body that is not read is not received', async () => {
    const socket = connect(server.port, '127.0.0.1');
    socket.write(`POST /never-read HTTP/1.1\r\nHost: a\r\nContent-Length: ${64 * MIB}\r\n\r\n`);
    let written = 0;
    const write = (): void => {
      while (written < 64 * MIB) {
        written += 65_536;
        if (!socket.write(new Uint8Array(65_536))) return;
      }
    };
    socket.on('drain', write);
    write();
    await expect.poll(() => unchangedFor(() => written)).toBe(true);
    expect(written).toBeLessThan(20 * MIB);
    socket.destroy();
  });

  test('the reading step is notified when a caller leaves while sending', async () => {
    const before = server.settled.filter((line) => line.startsWith('POST /read')).length;
    const socket = connect(server.port, '127.0.0.1');
    socket.write(`POST /read HTTP/1.1\r\nHost: a\r\nContent-Length: ${MIB}\r\n\r\n`);
    await new Promise<void>((resolve) => socket.write(piece(0, 1000), () => resolve()));
    await server.until(() => server.handled.at(-1) === 'POST /read');
    socket.resetAndDestroy();
    await server.until(() => server.settled.filter((line) => line.startsWith('POST /read')).length > before);
    expect(server.settled.at(-1)).toBe('POST /read client_closed');
  });

  test('a malformed body is one clear refusal', async () => {
    const connection = await RawConnection.open({ port: server.port });
    connection.send('POST /read HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nXYZ\r\n');
    // uWebSockets.js ends the connection itself, with a page of its own.
    expect((await connection.response()).status).toBe(400);
    await connection.ended;
    connection.destroy();
  });

  test('a caller who is still sending can read a refusal', async () => {
    const connection = await RawConnection.open({ port: server.port });
    connection.send(`POST /no-thanks HTTP/1.1\r\nHost: a\r\nContent-Length: ${2 * MIB}\r\n\r\n`);
    connection.send(piece(0, 2 * MIB));
    const answer = await connection.response();
    expect(answer.status).toBe(400);
    expect(answer.header('connection')).toBe('close');
    expect(await connection.ended).toBe('fin');
  });

  test('no bug was reported', () => {
    expect(server.bugs).toEqual([]);
  });
});

interface Download {
  readonly head: string;
  readonly body: Buffer;
  readonly complete: boolean;
}

function download(port: number, path: string): Promise<Download> {
  const socket = connect(port, '127.0.0.1');
  socket.write(requestBytes({ path }));
  return collect(socket);
}

function upload(port: number, path: string, body: Uint8Array, chunked: boolean): Promise<Download> {
  const socket = connect(port, '127.0.0.1');
  const framing = chunked ? 'Transfer-Encoding: chunked' : `Content-Length: ${body.byteLength}`;
  socket.write(`POST ${path} HTTP/1.1\r\nHost: a\r\n${framing}\r\n\r\n`);
  if (!chunked) socket.write(body);
  else {
    for (let at = 0; at < body.byteLength; at += 50_000) {
      const part = body.subarray(at, at + 50_000);
      socket.write(`${part.byteLength.toString(16)}\r\n`);
      socket.write(part);
      socket.write('\r\n');
    }
    socket.write('0\r\n\r\n');
  }
  return collect(socket);
}

/** Reads one answer, until it is complete or the connection ends. */
function collect(socket: Socket): Promise<Download> {
  const pieces: Buffer[] = [];
  let [length, head, expected] = [0, '', Infinity];
  return new Promise((resolve) => {
    const end = (complete: boolean): void => {
      socket.destroy();
      const all = Buffer.concat(pieces);
      const body = all.subarray(Buffer.byteLength(head, 'latin1'));
      resolve({ head, complete, body: head.includes('chunked') ? unchunk(body) : body });
    };
    socket.on('data', (chunk: Buffer) => {
      pieces.push(chunk);
      length += chunk.byteLength;
      if (head === '') {
        const all = Buffer.concat(pieces);
        const at = all.indexOf('\r\n\r\n');
        if (at === -1) return;
        head = all.toString('latin1', 0, at + 4);
        const announced = /Content-Length: (\d+)/.exec(head)?.[1];
        if (announced !== undefined) expected = at + 4 + Number(announced);
      }
      const last = Buffer.concat(pieces.slice(-6)).subarray(-7).toString('latin1');
      if (length === expected || (expected === Infinity && last.endsWith('\r\n0\r\n\r\n'))) end(true);
    });
    socket.on('error', () => undefined);
    socket.on('close', () => end(false));
  });
}

function unchunk(bytes: Buffer): Buffer {
  const parts: Buffer[] = [];
  for (let at = 0; ;) {
    const line = bytes.indexOf('\r\n', at);
    if (line === -1) break;
    const size = Number.parseInt(bytes.toString('latin1', at, line), 16);
    if (!(size > 0)) break;
    parts.push(bytes.subarray(line + 2, line + 2 + size));
    at = line + 2 + size + 2;
  }
  return Buffer.concat(parts);
}

let seen = { value: -1, looks: 0 };

/** Whether it was the same in the last ten readings. */
function unchangedFor(read: () => number): boolean {
  const value = read();
  seen = { value, looks: value === seen.value ? seen.looks + 1 : 0 };
  return seen.looks >= 10;
}
