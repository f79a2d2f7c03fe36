// One connection of the node:http listener: pipelined requests start in turn, and only written answers are settled as delivered.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Gateway } from '../../../src/core/gateway.ts';
import { startNodeListener } from '../../../src/server/node-http.ts';
import { RawConnection, request, requestBytes } from '../../support/raw-http.ts';
import { LISTENERS, startTestServer } from './test-gateway.ts';
import type { TestServer } from './test-gateway.ts';

/** The limit of open requests on one connection. */
const PIPELINE_MAX = 64;
/** More than Node buffers of a body that is not read. */
const LONG_BODY = 'x'.repeat(60_000);

const SLOW = requestBytes({ path: '/wait' });

/** Resolves when the gateway has noticed that the next caller has left. */
function leaving(gateway: Gateway): Promise<void> {
  return new Promise((resolve) => {
    const abort = gateway.abort.bind(gateway);
    gateway.abort = (x) => {
      gateway.abort = abort;
      abort(x);
      resolve();
    };
  });
}

describe('pipelined requests', () => {
  let server: TestServer;
  let connection: RawConnection;

  beforeAll(async () => {
    server = await startTestServer(startNodeListener);
  });

  afterEach(async () => {
    connection.destroy();
    for (let left = server.gateway.inFlight; left > 0; left--) server.letGo();
    await server.gateway.idle();
    server.handled.length = 0;
    server.settled.length = 0;
  });

  afterAll(() => server.close());

  /** Sends the requests. They have all been read once a later request on another connection was answered. */
  async function pipelined(...requests: readonly (string | Uint8Array)[]): Promise<void> {
    connection = await RawConnection.open(server);
    connection.send(Buffer.concat(requests.map((bytes) => Buffer.from(bytes))));
    await server.until(() => server.handled.length > 0);
    for (let turn = 0; turn < 3; turn++) await request({ port: server.port, path: '/sync' });
    server.handled.splice(server.handled.indexOf('GET /sync'), 3);
    server.settled.splice(server.settled.indexOf('GET /sync 200'), 3);
  }

  test('start when the one before was answered, and are answered in order', async () => {
    await pipelined(SLOW, requestBytes({ path: '/async' }), SLOW, requestBytes({ path: '/nowhere' }));
    expect(server.handled).toEqual(['GET /wait']);
    server.letGo();
    expect((await connection.response()).json()).toEqual({ waited: true });
    expect((await connection.response()).json()).toEqual({ async: true });
    await server.until(() => server.handled.length === 3);
    expect(server.handled).toEqual(['GET /wait', 'GET /async', 'GET /wait']);
    server.letGo();
    expect((await connection.response()).status).toBe(200);
    expect((await connection.response()).status).toBe(404);
    expect(server.settled).toEqual(['GET /wait 200', 'GET /async 200', 'GET /wait 200', 'GET /nowhere not_found']);
  });

  test.each(['reset', 'finish'] as const)('after a slow one never start for a caller who leaves by %s', async (leave) => {
    await pipelined(SLOW, ...Array.from({ length: 60 }, () => requestBytes({ method: 'POST', path: '/async-echo', body: 'charged' })));
    const aborted = leaving(server.gateway);
    connection[leave]();
    await aborted;
    server.letGo();
    await server.gateway.idle();
    for (let turn = 0; turn < 5; turn++) await nextTurn();
    expect(server.handled).toEqual(['GET /wait']);
    expect(server.settled).toEqual(['GET /wait client_closed']);
  });

  test('may have bodies, even longer ones than the buffer while they wait', async () => {
    await pipelined(SLOW, requestBytes({ method: 'POST', path: '/echo', body: LONG_BODY }), requestBytes({ path: '/sync' }));
    server.letGo();
    expect((await connection.response()).status).toBe(200);
    expect((await connection.response()).json()).toMatchObject({ bytes: LONG_BODY.length });
    expect((await connection.response()).status).toBe(200);
  });

  test(`are at most ${PIPELINE_MAX}`, async () => {
    await pipelined(SLOW, ...Array.from({ length: PIPELINE_MAX - 1 }, () => requestBytes({ path: '/sync' })));
    expect(server.gateway.inFlight).toBe(1);
    connection.send(requestBytes({ path: '/sync' }));
    await connection.ended;
    server.letGo();
    await server.gateway.idle();
    expect(server.settled).toEqual(['GET /wait client_closed']);
  });

  test('after one that closes the connection are dropped', async () => {
    const closing = requestBytes({ path: '/sync', headers: { Connection: 'close' } });
    await pipelined(SLOW, closing, requestBytes({ path: '/async' }));
    server.letGo();
    await connection.response();
    expect((await connection.response()).headers['connection']).toBe('close');
    await connection.ended;
    expect(server.settled).toEqual(['GET /wait 200', 'GET /sync 200']);
  });

  test('are answered even if garbage follows them; then the connection ends', async () => {
    await pipelined(SLOW, requestBytes({ path: '/async' }), 'nonsense\r\n\r\n');
    server.letGo();
    expect((await connection.response()).headers['connection']).not.toBe('close');
    expect((await connection.response()).headers['connection']).toBe('close');
    expect(await connection.ended).toBe('fin');
  });

  test('are refused in turn if their own bodies are malformed', async () => {
    await pipelined(SLOW, 'POST /async-echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n');
    server.letGo();
    expect((await connection.response()).status).toBe(200);
    const refused = await connection.response();
    expect([refused.status, refused.headers['connection']]).toEqual([400, 'close']);
    expect(await connection.ended).toBe('fin');
  });

  test('all get their answers from a listener that stops, and the last one closes the connection', async () => {
    const stopping = await startTestServer(startNodeListener);
    connection = await RawConnection.open(stopping);
    connection.send(Buffer.concat([SLOW, requestBytes({ path: '/async' })]));
    await stopping.until(() => stopping.handled.length === 1);
    for (let turn = 0; turn < 3; turn++) await request({ port: stopping.port, path: '/sync' });
    stopping.listener.stopAccepting();
    stopping.listener.beginLastAnswers();
    stopping.letGo();
    expect((await connection.response()).headers['connection']).not.toBe('close');
    expect((await connection.response()).headers['connection']).toBe('close');
    expect(await connection.ended).toBe('fin');
    stopping.close();
  });

  test('an answer that a reset connection does not take is not a delivery', async () => {
    await pipelined(SLOW);
    connection.reset();
    // Before the event loop notices the reset.
    server.letGo();
    await server.gateway.idle();
    expect(server.settled).toEqual(['GET /wait client_closed']);
  });
});

describe.each(LISTENERS)('on the %s listener', (_name, start) => {
  test('a reply that ends its connection is settled when it is written, and as closed if the caller leaves before', async () => {
    const server = await startTestServer(start);
    const connection = await RawConnection.open(server);
    connection.send(requestBytes({ path: '/wait', headers: { Connection: 'close' } }));
    await server.until(() => server.handled.length === 1);
    server.letGo();
    // The chain has ended, and the answer waits for the end of this tick.
    for (let job = 0; job < 5; job++) await Promise.resolve();
    expect(server.settled).toEqual([]);
    server.listener.close();
    await server.gateway.idle();
    expect(server.settled).toEqual(['GET /wait client_closed']);
    connection.destroy();
    server.close();
  });

  test('a reply that ends its connection is settled as delivered when it was written', async () => {
    const server = await startTestServer(start);
    const answer = await request({ port: server.port, path: '/async', headers: { Connection: 'close' } });
    expect(answer.status).toBe(200);
    await server.gateway.idle();
    expect(server.settled).toEqual(['GET /async 200']);
    server.close();
  });
});
