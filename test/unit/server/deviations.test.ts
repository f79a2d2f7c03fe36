// The complete list of differences between the two listeners, each asserted, so that another build of the library shows.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startNodeListener } from '../../../src/server/node-http.ts';
import { UWS_COLUMN } from '../../support/listeners.ts';
import { RawConnection, request, requestBytes } from '../../support/raw-http.ts';
import { LISTENERS, startTestServer } from './test-gateway.ts';
import type { Start, TestServer } from './test-gateway.ts';

const OLDER_BUILD = UWS_COLUMN === 'older';

function listening(start: Start): () => TestServer {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer(start);
  });
  afterAll(() => server.close());
  return () => server;
}

const GET_HTTP_10 = 'GET /sync HTTP/1.0\r\n\r\n';
const GET_ABSOLUTE = 'GET http://a/sync?x HTTP/1.1\r\nHost: a\r\n\r\n';
const TOO_LONG = `GET /sync HTTP/1.1\r\nHost: a\r\nX-One: ${'a'.repeat(17_000)}\r\n\r\n`;

describe.each(LISTENERS.filter(([name]) => name === 'uws'))(`%s: uWebSockets.js, as the ${UWS_COLUMN} build is`, (_name, start) => {
  const server = listening(start);

  test.each([
    ['HTTP/1.0', GET_HTTP_10, '505'],
    ['an absolute request target', GET_ABSOLUTE, '505'],
    ['two spaces in the request line', 'GET  /sync HTTP/1.1\r\nHost: a\r\n\r\n', '505'],
    ['a head over 16 KiB', TOO_LONG, '431'],
    ['length and chunking together', 'POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n', '400'],
  ])('%s: the library itself answers HTML without a request id, and closes', async (_what, bytes, status) => {
    const connection = await RawConnection.open(server());
    connection.send(bytes);
    await connection.ended;
    expect(connection.unread.startsWith(`HTTP/1.1 ${status} `)).toBe(true);
    expect(connection.unread.toLowerCase()).not.toContain('x-request-id');
    expect(server().handled).toEqual([]);
    connection.destroy();
  });

  test.each(['GET ', 'GET /sync ', 'GET /sync HT', 'GET /sync HTTP/1.1', 'GET /sync HTTP/1.1\r'])(
    `a request line in two TCP segments, the first being %j, is ${OLDER_BUILD ? 'answered 505' : 'served'}`,
    async (first) => {
      const before = server().handled.length;
      const whole = requestBytes({ path: '/sync', headers: { Connection: 'close' } });
      const connection = await RawConnection.open(server());
      await connection.sendPieces([first, whole.subarray(first.length)]);
      await connection.ended;
      expect(connection.unread.startsWith(`HTTP/1.1 ${OLDER_BUILD ? 505 : 200} `)).toBe(true);
      expect(server().handled.length - before).toBe(OLDER_BUILD ? 0 : 1);
      connection.destroy();
    },
  );

  test('two Hosts: the newer build answers in HTML, before the guard sees them', async () => {
    const connection = await RawConnection.open(server());
    connection.send('GET /sync HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n');
    await connection.ended;
    expect(connection.unread.startsWith('HTTP/1.1 400 ')).toBe(true);
    expect(connection.unread.toLowerCase().includes('x-request-id')).toBe(OLDER_BUILD);
    connection.destroy();
  });

  test('pipelining after an unfinished request ends the connection, and the first is settled as client_closed', async () => {
    const before = server().settled.length;
    const handledBefore = server().handled.length;
    const connection = await RawConnection.open(server());
    connection.send(Buffer.concat([requestBytes({ path: '/wait' }), requestBytes({ path: '/sync' })]));
    await connection.ended;
    server().letGo();
    await server().gateway.idle();
    expect(server().settled.slice(before)).toEqual(['GET /wait client_closed']);
    expect(server().handled.slice(handledBefore)).toEqual(['GET /wait']);
    connection.destroy();
  });

  test('an unknown method reaches the router: 405', async () => {
    const response = await request({ port: server().port, method: 'BREW', path: '/sync' });
    expect([response.status, response.headers['allow']]).toEqual([405, 'GET']);
  });

  async function lengthOfClosing(method: string, path: string): Promise<string | undefined> {
    const connection = await RawConnection.open(server());
    connection.send(requestBytes({ method, path, headers: { Connection: 'close, te' } }));
    const { headers } = await connection.response({ head: true });
    expect(headers['connection']).toBe('close');
    expect(await connection.ended).toBe('fin');
    connection.destroy();
    return headers['content-length'];
  }

  test('a HEAD that closes has the length of its body; the older build cannot, and sends 0', async () => {
    const kept = await request({ port: server().port, method: 'HEAD', path: '/sync' });
    expect(Number(kept.headers['content-length'])).toBeGreaterThan(100);
    expect(await lengthOfClosing('HEAD', '/sync')).toBe(OLDER_BUILD ? '0' : kept.headers['content-length']);
  });

  test('a 204 that closes has Content-Length: 0', async () => {
    expect(await lengthOfClosing('DELETE', '/thing')).toBe('0');
  });
});

describe('node:http', () => {
  const server = listening(startNodeListener);

  test('HTTP/1.0 is served, and the connection closed', async () => {
    const connection = await RawConnection.open(server());
    connection.send(GET_HTTP_10);
    const response = await connection.response();
    expect([response.body, response.headers['connection']]).toEqual(['{"sync":true}', 'close']);
    expect(await connection.ended).toBe('fin');
    connection.destroy();
  });

  test('HTTP/1.0 keeps the connection on request', async () => {
    const connection = await RawConnection.open(server());
    for (let i = 0; i < 2; i++) {
      connection.send('GET /async HTTP/1.0\r\nConnection: keep-alive\r\n\r\n');
      expect((await connection.response()).status).toBe(200);
    }
    connection.destroy();
  });

  test('an absolute request target is served', async () => {
    const connection = await RawConnection.open(server());
    connection.send(GET_ABSOLUTE);
    expect((await connection.response()).status).toBe(200);
    connection.destroy();
  });

  test('a caller who pipelines endlessly is cut off, and the open request is settled', async () => {
    const connection = await RawConnection.open(server());
    connection.send(Buffer.concat(Array.from({ length: 100 }, () => requestBytes({ path: '/wait' }))));
    await connection.ended;
    server().letGo();
    await server().gateway.idle();
    // The others waited for their turn (node-connection.test.ts).
    expect(server().settled.filter((line) => line === 'GET /wait client_closed')).toHaveLength(1);
    connection.destroy();
  });

  test.each([
    ['no Host', 'GET /sync HTTP/1.1\r\n\r\n'],
    ['a head over 16 KiB', TOO_LONG],
    ['bytes that are not HTTP', 'nonsense\r\n\r\n'],
    ['length and chunking together', 'POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n'],
    ['a space before the colon', 'GET /sync HTTP/1.1\r\nHost : a\r\n\r\n'],
    ['a folded field', 'GET /sync HTTP/1.1\r\nHost: a\r\nX: a\r\n b\r\n\r\n'],
    ['an unknown method', 'BREW /sync HTTP/1.1\r\nHost: a\r\n\r\n'],
    ['a chunk size that is not a number', 'POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n'],
    ['chunking in HTTP/1.0', 'POST /echo HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'],
    ['CONNECT', 'CONNECT a:80 HTTP/1.1\r\nHost: a\r\n\r\n'],
  ])('%s: 400 validation_error as a problem document, and the connection closes', async (_what, bytes) => {
    const connection = await RawConnection.open(server());
    connection.send(bytes);
    const response = await connection.response();
    expect([response.status, response.headers['connection']]).toEqual([400, 'close']);
    expect(response.json()).toMatchObject({ code: 'validation_error', request_id: response.headers['x-request-id'] });
    expect(response.headers['cache-control']).toBe('no-store');
    expect(response.headers['date']).toBeDefined();
    connection.finish();
    await connection.ended;
    expect(connection.unread).toBe('');
    connection.destroy();
    await server().gateway.idle();
  });

  test('garbage after a waiting request does not cost it its answer', async () => {
    const connection = await RawConnection.open(server());
    connection.send(Buffer.concat([requestBytes({ path: '/wait' }), Buffer.from('nonsense\r\n\r\n')]));
    await server().until(() => server().gateway.inFlight === 1);
    server().letGo();
    const response = await connection.response();
    expect([response.body, response.headers['connection']]).toEqual(['{"waited":true}', 'close']);
    await connection.ended;
    connection.destroy();
  });

  test('a request line may be split anywhere', async () => {
    const connection = await RawConnection.open(server());
    await connection.sendPieces([...requestBytes({ path: '/sync' })].map((byte) => Uint8Array.of(byte)));
    expect((await connection.response()).status).toBe(200);
    connection.destroy();
  });
});
