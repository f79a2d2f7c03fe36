// What a well-behaved caller gets, the same on both listeners.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { RawConnection, chunked, request, requestBytes } from '../../support/raw-http.ts';
import { LISTENERS, startTestServer } from './test-gateway.ts';
import type { TestServer } from './test-gateway.ts';

const ULID = /^[0-9A-HJKMNP-TV-Z]{26}$/;

describe.each(LISTENERS)('the %s listener', (_name, start) => {
  let server: TestServer;

  beforeAll(async () => {
    server = await startTestServer(start);
  });

  afterAll(() => server.close());

  const get = (path: string, headers: Record<string, string> = {}) => request({ port: server.port, path, headers });

  test.each(['/sync', '/async'])('%s is answered with the headers of every answer, each once', async (path) => {
    const askedAtMs = Date.now();
    const answer = await get(path);
    expect(answer.status).toBe(200);
    expect(answer.statusText).toBe('OK');
    expect(answer.headers['x-request-id']).toMatch(ULID);
    expect(answer.headers['cache-control']).toBe('no-store');
    expect(answer.headers['content-type']).toBe('application/json');
    expect(answer.headers['content-length']).toBe(String(answer.body.length));
    const date = Date.parse(answer.headers['date'] ?? '');
    // In whole seconds, and written anew once in a second.
    expect([date > askedAtMs - 3000, date <= Date.now()]).toEqual([true, true]);
    const names = answer.rawHeaders.map(([name]) => name.toLowerCase());
    expect(new Set(names).size).toBe(names.length);
    expect(names).not.toContain('server');
    expect(names).not.toContain('uwebsockets');
  });

  test('a problem is a problem document with all its members and the request id of the header', async () => {
    const answer = await get('/nowhere');
    expect(answer.status).toBe(404);
    expect(answer.statusText).toBe('Not Found');
    expect(answer.headers['content-type']).toBe('application/problem+json');
    expect(answer.json()).toEqual({
      type: 'http://docs.test/errors#not-found',
      title: 'Not found',
      status: 404,
      code: 'not_found',
      detail: expect.any(String) as string,
      request_id: answer.headers['x-request-id'],
    });
  });

  test('a wrong method is answered with the allowed ones; methods and paths are case-sensitive', async () => {
    const answer = await request({ port: server.port, method: 'DELETE', path: '/sync' });
    expect([answer.status, answer.headers['allow']]).toEqual([405, 'GET']);
    expect((await get('/Sync')).status).toBe(404);
    expect((await get('/sync/')).status).toBe(404);
    expect((await get('/%73ync')).status).toBe(404);
  });

  test('only required headers are copied, repeated ones joined, the query raw', async () => {
    const connection = await RawConnection.open(server);
    connection.send('GET /headers?a=%20b&c HTTP/1.1\r\nHost: a\r\nX-One: 1\r\nX-Other: 9\r\nx-one: 2\r\nAuthorization: k\r\n\r\n');
    const answer = await connection.response();
    expect(answer.json()).toEqual(['a=%20b&c', { 'x-one': '1, 2', authorization: 'k' }]);
    connection.destroy();
  });

  test.each(['/headers', '/headers?'])('%s has an empty query', async (path) => {
    expect((await get(path)).json()).toEqual(['', {}]);
  });

  test('a connection serves many requests, with bodies and without', async () => {
    const connection = await RawConnection.open(server);
    for (const path of ['/sync', '/async', '/nowhere', '/throw', '/sync']) {
      connection.send(requestBytes({ path }));
      expect((await connection.response()).status).toBe({ '/nowhere': 404, '/throw': 500 }[path] ?? 200);
    }
    for (const path of ['/echo', '/async-echo', '/closed']) {
      connection.send(requestBytes({ method: 'POST', path, body: 'hello' }));
      expect((await connection.response()).status).toBe(path === '/closed' ? 401 : 200);
    }
    expect(connection.unread).toBe('');
    connection.destroy();
  });

  test('a request may be split anywhere after its request line', async () => {
    const bytes = requestBytes({ method: 'POST', path: '/echo', body: 'in pieces' });
    const lineEnd = bytes.indexOf('\r\n') + 2;
    const connection = await RawConnection.open(server);
    const rest = [...bytes.subarray(lineEnd)].map((byte) => Uint8Array.of(byte));
    await connection.sendPieces([bytes.subarray(0, lineEnd), ...rest]);
    expect((await connection.response()).json()).toMatchObject({ bytes: 9, text: 'in pieces' });
    connection.destroy();
  });

  test('requests that are answered at once may be pipelined, and are answered in order', async () => {
    const connection = await RawConnection.open(server);
    connection.send(Buffer.concat(['/sync', '/nowhere', '/field'].map((path) => requestBytes({ path }))));
    expect((await connection.response()).status).toBe(200);
    expect((await connection.response()).status).toBe(404);
    expect((await connection.response()).headers['x-good']).toBe('a\tb~');
    connection.destroy();
  });

  test('HEAD is answered without a body and leaves the connection usable', async () => {
    const connection = await RawConnection.open(server);
    connection.send(requestBytes({ method: 'HEAD', path: '/sync' }));
    const answer = await connection.response({ head: true });
    expect([answer.status, answer.headers['allow']]).toEqual([405, 'GET']);
    expect(Number(answer.headers['content-length'])).toBeGreaterThan(0);
    connection.send(requestBytes({ path: '/sync' }));
    expect((await connection.response()).body).toBe('{"sync":true}');
    connection.destroy();
  });

  test('204 has neither body nor Content-Length, and leaves the connection usable', async () => {
    const connection = await RawConnection.open(server);
    connection.send(requestBytes({ method: 'DELETE', path: '/thing' }));
    const answer = await connection.response();
    expect(answer.status).toBe(204);
    expect(answer.headers['content-length']).toBeUndefined();
    expect(answer.headers['content-type']).toBeUndefined();
    connection.send(requestBytes({ path: '/sync' }));
    expect((await connection.response()).status).toBe(200);
    connection.destroy();
  });

  test.each(['close', 'Close', 'close, te', 'keep-alive, close'])(
    'Connection: %s is honoured, and repeated in the answer',
    async (value) => {
      for (const path of ['/sync', '/async']) {
        const connection = await RawConnection.open(server);
        connection.send(requestBytes({ path, headers: { Connection: value } }));
        expect((await connection.response()).headers['connection']).toBe('close');
        expect(await connection.ended).toBe('fin');
        connection.destroy();
      }
    },
  );

  test('nothing after a request with Connection: close is handled', async () => {
    const connection = await RawConnection.open(server);
    connection.send(
      Buffer.concat([requestBytes({ path: '/sync', headers: { Connection: 'close' } }), requestBytes({ path: '/behind-close' })]),
    );
    await connection.ended;
    expect(server.handled).not.toContain('GET /behind-close');
    connection.destroy();
  });

  test('Expect: 100-continue gets its interim response', async () => {
    const connection = await RawConnection.open(server);
    connection.send('POST /echo HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n');
    await connection.seen('HTTP/1.1 100 Continue\r\n\r\n');
    connection.send('hello');
    expect((await connection.response()).json()).toMatchObject({ text: 'hello' });
    connection.destroy();
  });

  test('an Upgrade is ignored, and the request answered', async () => {
    const headers = {
      Connection: 'Upgrade',
      Upgrade: 'websocket',
      'Sec-WebSocket-Key': 'AAAAAAAAAAAAAAAAAAAAAA==',
      'Sec-WebSocket-Version': '13',
    };
    expect((await get('/sync', headers)).status).toBe(200);
  });

  test('heads up to nearly 16 KiB are read', async () => {
    expect((await get('/headers', { 'X-One': 'a'.repeat(16_000) })).body).toContain('a'.repeat(16_000));
    expect((await get(`/headers?${'q'.repeat(15_000)}`)).status).toBe(200);
  });

  test('a chunked body is read, and its connection always closed', async () => {
    for (const path of ['/echo', '/async-echo', '/closed']) {
      const connection = await RawConnection.open(server);
      connection.send(requestBytes({ method: 'POST', path, headers: { 'Transfer-Encoding': 'chunked' } }));
      await connection.sendPieces([chunked('hel', 'lo')]);
      const answer = await connection.response();
      expect(answer.json()).toMatchObject(path === '/closed' ? { code: 'unauthorized' } : { bytes: 5, text: 'hello' });
      expect(answer.headers['connection']).toBe('close');
      expect(await connection.ended).toBe('fin');
      connection.destroy();
    }
  });

  test.each([
    ['in chunks', { 'Transfer-Encoding': 'chunked' }, '5\r\nhello\r\n', '5\r\nworld\r\n0\r\n\r\n'],
    ['of a length, with Connection: close', { 'Content-Length': '10', Connection: 'close' }, 'hello', 'world'],
  ])(
    'a request whose body %s is not needed is answered before that has arrived, and what follows is never handled',
    async (_how, headers, ...body) => {
      const [first, rest] = body as [string, string];
      for (const path of ['/closed', '/nowhere']) {
        const connection = await RawConnection.open(server);
        connection.send(Buffer.concat([requestBytes({ method: 'POST', path, headers }), Buffer.from(first)]));
        const answer = await connection.response();
        expect([answer.status, answer.headers['connection']]).toEqual([path === '/closed' ? 401 : 404, 'close']);
        expect(answer.json()).toMatchObject({ status: answer.status });
        const handled = server.handled.length;
        connection.send(Buffer.concat([Buffer.from(rest), requestBytes({ path: '/async' })]));
        await connection.ended;
        expect([connection.unread, server.handled.length]).toEqual(['', handled]);
        connection.destroy();
      }
    },
  );

  test('a POST without a body is treated as one with Content-Length: 0', async () => {
    expect((await request({ port: server.port, method: 'POST', path: '/echo' })).json()).toEqual({ body: 'none' });
  });

  test('a body on a route that takes none is skipped', async () => {
    const connection = await RawConnection.open(server);
    connection.send(requestBytes({ path: '/async', headers: { 'Content-Length': '20000' }, body: 'x'.repeat(20_000) }));
    expect((await connection.response()).status).toBe(200);
    connection.send(requestBytes({ path: '/sync' }));
    expect((await connection.response()).status).toBe(200);
    connection.destroy();
  });
});
