// Bugs, deadlines and callers who leave: every request is answered or settled, and the process lives.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { RawConnection, request, requestBytes } from '../../support/raw-http.ts';
import { LISTENERS, startTestServer } from './test-gateway.ts';
import type { TestServer } from './test-gateway.ts';

describe.each(LISTENERS)('the %s listener', (_name, start) => {
  let server: TestServer;
  let hasty: TestServer;

  beforeAll(async () => {
    server = await startTestServer(start);
    hasty = await startTestServer(start, { requestMs: 100 });
  });

  afterAll(() => {
    server.close();
    hasty.close();
  });

  test.each(['/throw', '/reject'])('%s: a bug is a complete 500 without details, and is reported', async (path) => {
    const response = await request({ port: server.port, path });
    expect(response.status).toBe(500);
    expect(response.headers['content-type']).toBe('application/problem+json');
    expect(response.json()).toEqual({
      type: 'http://docs.test/errors#internal-error',
      title: 'Internal error',
      status: 500,
      code: 'internal_error',
      detail: expect.not.stringContaining('secret') as string,
      request_id: response.headers['x-request-id'],
    });
    expect(server.bugs.pop()).toBe('answer: a planted bug with a secret in it');
  });

  test.each(['/split', '/split-later'])(
    '%s: a header that would split the response is a bug: 500, and none of it is sent',
    async (path) => {
      const connection = await RawConnection.open(server);
      connection.send(requestBytes({ path }));
      const response = await connection.response();
      expect(response.json()).toMatchObject({ code: 'internal_error' });
      expect(response.rawHeaders.map(([name]) => name)).not.toContain('X-Bad');
      expect(response.headers['set-cookie']).toBeUndefined();
      expect(server.bugs.pop()).toContain('X-Bad');
      await server.gateway.idle();
      connection.destroy();
    },
  );

  test('a bug of the gateway itself is a 500, too, and the next request is served', async () => {
    const { router } = server.gateway;
    const match = router.match.bind(router);
    router.match = () => {
      router.match = match;
      throw new Error('the router is broken');
    };
    expect((await request({ port: server.port, path: '/sync' })).json()).toMatchObject({ code: 'internal_error' });
    expect(server.bugs.pop()).toBe('listener.start: the router is broken');
    expect((await request({ port: server.port, path: '/sync' })).status).toBe(200);
  });

  test('a bug during the handover of the body is a 500, too', async () => {
    const { gateway } = server;
    const body = gateway.body.bind(gateway);
    gateway.body = () => {
      gateway.body = body;
      throw new Error('no body, please');
    };
    expect((await request({ port: server.port, method: 'POST', path: '/echo', body: 'x' })).json()).toMatchObject({
      code: 'internal_error',
    });
    expect(server.bugs.pop()).toBe('listener.body: no body, please');
    expect(gateway.inFlight).toBe(0);
  });

  test('a step that never returns is answered at the deadline, and the connection closed', async () => {
    const connection = await RawConnection.open(hasty);
    connection.send(requestBytes({ path: '/never' }));
    const response = await connection.response();
    expect([response.status, response.headers['connection']]).toEqual([500, 'close']);
    expect(response.json()).toMatchObject({ code: 'internal_error' });
    await connection.ended;
    connection.destroy();
  });

  test('a body that never ends is answered at the deadline, and the connection closed', async () => {
    for (const framing of ['Content-Length: 5\r\n\r\nhel', 'Transfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n']) {
      const connection = await RawConnection.open(hasty);
      connection.send(`POST /echo HTTP/1.1\r\nHost: a\r\n${framing}`);
      const response = await connection.response();
      expect(response.headers['connection']).toBe('close');
      expect(response.json()).toMatchObject({ code: 'validation_error', detail: expect.stringContaining('in time') as string });
      await connection.ended;
      connection.destroy();
    }
  });

  test.each(['GET', 'POST'])('a caller who leaves during %s /wait: cancelled at once, settled as client_closed', async (method) => {
    const before = server.settled.length;
    const connection = await RawConnection.open(server);
    connection.send(requestBytes({ method, path: '/wait', ...(method === 'POST' ? { body: 'x' } : {}) }));
    await server.until(() => server.gateway.inFlight === 1);
    const cancelled = new Promise<void>((resolve) => {
      const { gateway } = server;
      const abort = gateway.abort.bind(gateway);
      gateway.abort = (x) => {
        gateway.abort = abort;
        abort(x);
        resolve();
      };
    });
    connection.reset();
    await cancelled;
    server.letGo();
    await server.gateway.idle();
    expect(server.settled.slice(before)).toEqual([`${method} /wait client_closed`]);
  });

  test('an orderly close counts as leaving as well: there is no charge for an answer that may never be read', async () => {
    const before = server.settled.length;
    const connection = await RawConnection.open(server);
    connection.send(requestBytes({ path: '/wait' }));
    await server.until(() => server.gateway.inFlight === 1);
    connection.finish();
    await connection.ended;
    server.letGo();
    await server.gateway.idle();
    expect(server.settled.slice(before)).toEqual(['GET /wait client_closed']);
    connection.destroy();
  });

  test('a hundred callers who leave at any stage leave nothing behind', async () => {
    const bytes = requestBytes({ method: 'POST', path: '/async-echo', body: 'x'.repeat(200) });
    await Promise.all(
      Array.from({ length: 100 }, async (_, i) => {
        const connection = await RawConnection.open(server);
        await connection.sendPieces([bytes.subarray(0, 40), bytes.subarray(40, Math.floor(40 + ((bytes.length - 40) * i) / 99))]);
        connection.reset();
      }),
    );
    expect((await request({ port: server.port, path: '/sync' })).status).toBe(200);
    await server.gateway.idle();
    expect(server.bugs).toEqual([]);
  });
});
