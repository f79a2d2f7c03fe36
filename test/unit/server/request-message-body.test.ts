// Bodies near their limit, and bodies that do not end.
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { SpareRoom } from '../../../src/server/listener.ts';
import { BodyCollector } from '../../../src/server/request-message.ts';
import { RawConnection, chunked, requestBytes } from '../../support/raw-http.ts';
import { BODY_BYTES_MAX, LISTENERS, startTestServer } from './test-gateway.ts';
import type { TestServer } from './test-gateway.ts';
import { sumOf } from './test-routes.ts';

const DROPPED_MAX = 8 * BODY_BYTES_MAX;

describe.each(LISTENERS)('the %s listener', (_name, start) => {
  let server: TestServer;

  beforeAll(async () => {
    server = await startTestServer(start);
  });

  afterAll(() => server.close());

  const post = (body: Uint8Array, path = '/echo'): Buffer => requestBytes({ method: 'POST', path, body });

  test.each([1, BODY_BYTES_MAX - 1, BODY_BYTES_MAX])('a body of %i bytes arrives unchanged, and the connection is kept', async (size) => {
    const connection = await RawConnection.open(server);
    const body = randomBytes(size);
    for (const path of ['/echo', '/async-echo']) {
      connection.send(post(body, path));
      expect((await connection.response()).json()).toMatchObject({ bytes: size, sum: sumOf(body) });
    }
    connection.destroy();
  });

  test.each([BODY_BYTES_MAX + 1, DROPPED_MAX])('a body of %i bytes is dropped, refused, and the connection closed', async (size) => {
    const connection = await RawConnection.open(server);
    connection.send(post(Buffer.alloc(size)));
    const response = await connection.response();
    expect(response.json()).toMatchObject({ code: 'validation_error', detail: 'body: it is too large.' });
    expect(response.headers['connection']).toBe('close');
    expect(await connection.ended).toBe('fin');
    connection.destroy();
  });

  test('a body beyond eight times the limit is not read to its end', async () => {
    const connection = await RawConnection.open(server);
    connection.send(`POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: ${100 * BODY_BYTES_MAX}\r\n\r\n`);
    connection.send(Buffer.alloc(DROPPED_MAX + 1));
    expect((await connection.response()).json()).toMatchObject({ code: 'validation_error' });
    await connection.ended;
    connection.destroy();
  });

  test('nor is a chunked one', async () => {
    const head = requestBytes({ method: 'POST', path: '/echo', headers: { 'Transfer-Encoding': 'chunked' } });
    for (const [size, code] of [
      [BODY_BYTES_MAX, undefined],
      [BODY_BYTES_MAX + 1, 'validation_error'],
      [DROPPED_MAX + 1, 'validation_error'],
    ] as const) {
      const connection = await RawConnection.open(server);
      connection.send(head);
      connection.send(chunked(Buffer.alloc(size)));
      expect((await connection.response()).json()).toMatchObject(code === undefined ? { bytes: size } : { code });
      await connection.ended;
      connection.destroy();
    }
  });

  test.each([
    ['POST', '/closed', 401],
    ['POST', '/unknown', 404],
    ['GET', '/async', 200],
  ])(
    'an answer to %s %s does not wait for a body that is not read, and the connection can be used after that',
    async (method, path, status) => {
      const connection = await RawConnection.open(server);
      connection.send(`${method} ${path} HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n`);
      expect((await connection.response()).status).toBe(status);
      connection.send('helloGET /sync HTTP/1.1\r\nHost: a\r\n\r\n');
      expect((await connection.response()).body).toBe('{"sync":true}');
      connection.destroy();
    },
  );

  test('a refusal before a body with a far too large length closes the connection', async () => {
    const connection = await RawConnection.open(server);
    connection.send(`POST /closed HTTP/1.1\r\nHost: a\r\nContent-Length: ${DROPPED_MAX + 1}\r\n\r\n`);
    connection.send(Buffer.alloc(DROPPED_MAX + 1));
    const response = await connection.response();
    expect([response.status, response.headers['connection']]).toEqual([401, 'close']);
    await connection.ended;
    connection.destroy();
  });

  test('a caller who leaves in the middle of the body is settled as client_closed', async () => {
    const connection = await RawConnection.open(server);
    const before = server.settled.length;
    connection.send('POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhel');
    await server.until(() => server.gateway.inFlight > 0);
    connection.reset();
    await server.until(() => server.settled.length > before);
    expect(server.settled.slice(before)).toEqual(['POST /echo client_closed']);
    expect(server.gateway.inFlight).toBe(0);
  });
});

describe('the body collector', () => {
  test('copies borrowed memory, into one buffer however small the chunks', () => {
    const collector = new BodyCollector(1000, 0);
    const borrowed = new Uint8Array(1);
    for (let i = 0; i < 1000; i++) {
      borrowed[0] = i % 251;
      collector.add(borrowed, true);
    }
    expect(Uint8Array.from(collector.take() as Uint8Array)).toEqual(Uint8Array.from({ length: 1000 }, (_, i) => i % 251));
  });

  test('does not write into a chunk that it may keep', () => {
    const first = Uint8Array.of(1, 2);
    const collector = new BodyCollector(10, 0);
    collector.add(first, false);
    collector.add(Uint8Array.of(3), false);
    expect([[...first], [...(collector.take() as Uint8Array)]]).toEqual([
      [1, 2],
      [1, 2, 3],
    ]);
  });

  test('treats an empty body as none', () => {
    const collector = new BodyCollector(10, 0);
    collector.add(new Uint8Array(0), true);
    expect(collector.take()).toBe('none');
  });

  test('keeps a body with a length in one allocation, even if it arrives in two chunks', () => {
    const collector = new BodyCollector(1000, 6);
    collector.add(Uint8Array.of(1, 2, 3), true);
    collector.add(Uint8Array.of(4, 5, 6), true);
    const body = collector.take() as Uint8Array;
    expect([...body]).toEqual([1, 2, 3, 4, 5, 6]);
    expect(body.buffer.byteLength).toBe(6);
  });

  test('allocates at most twice the received bytes, whatever the announced length', () => {
    const collector = new BodyCollector(1_000_000, 1_000_000);
    collector.add(new Uint8Array(10), true);
    expect((collector.take() as Uint8Array).buffer.byteLength).toBeLessThanOrEqual(20);
  });

  test('reuses only returned memory for the next long body', () => {
    const spare = new SpareRoom();
    const dropped = new BodyCollector(200_000, 150_000, spare);
    dropped.add(new Uint8Array(100_000).fill(1), true);
    dropped.discard();
    const next = new BodyCollector(200_000, 120_000, spare);
    next.add(new Uint8Array(100_000).fill(2), true);
    next.add(new Uint8Array(20_000).fill(3), true);
    const body = next.take() as Uint8Array;
    expect([body.length, body[0], body[99_999], body[100_000], body[119_999]]).toEqual([120_000, 2, 2, 3, 3]);
    expect(body.buffer.byteLength).toBe(150_000);
    // A body that a step may still have, because it was not returned.
    const third = new BodyCollector(200_000, 100_000, spare);
    third.add(new Uint8Array(60_000), true);
    third.add(new Uint8Array(40_000), true);
    expect((third.take() as Uint8Array).buffer).not.toBe(body.buffer);
    // Memory of another owner.
    const foreign = new Uint8Array(100_000);
    spare.give(foreign);
    expect(spare.take(100_000).buffer).not.toBe(foreign.buffer);
  });
});
