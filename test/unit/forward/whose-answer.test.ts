// Forward routes: to which request an answer belongs, and what a target's connection may be like.
import { createServer, get as getOver } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { openProxyUpstream } from '../../../src/forward/upstream.ts';
import { lengthAnswer, RawEngine, securedEngine } from '../engines/raw-engine.ts';
import type { RawConnection } from '../engines/raw-engine.ts';

const open: { close(): void | Promise<void> }[] = [];
afterEach(async () => {
  for (const item of open.splice(0).toReversed()) await item.close();
});

/** The ids of requests end in a number. */
const ID_BEGIN = '01KB2ZJ7Q3V5X8Y0ABCDEFG';
const OTHER = `${ID_BEGIN}000`;

const idOf = ({ received }: RawConnection): string => [...received.matchAll(/^x-request-id: (.*)\r$/gim)].at(-1)?.[1] ?? '';
const pathOf = ({ received }: RawConnection): string => [...received.matchAll(/GET (\S+) HTTP/g)].at(-1)?.[1] ?? '';

/** What a caller sends to the gateway, as node:http has it there. */
async function arrived(): Promise<{ readonly request: IncomingMessage; readonly response: ServerResponse }> {
  const server = createServer();
  const { promise, resolve } = Promise.withResolvers<{ request: IncomingMessage; response: ServerResponse }>();
  server.once('request', (request, response) => resolve({ request, response }));
  await new Promise<void>((listening) => void server.listen(0, '127.0.0.1', listening));
  const caller = getOver({ port: (server.address() as AddressInfo).port, host: '127.0.0.1' }).on('error', () => undefined);
  open.push({ close: () => (caller.destroy(), server.closeAllConnections(), void server.close()) });
  return promise;
}

/** `get`: the status and the whole body, or the failure; `broken` in the middle of an answer. */
async function scene({ secured, keepAlive = true }: { readonly secured?: RawEngine; readonly keepAlive?: boolean } = {}) {
  const target = secured ?? (await new RawEngine().listen());
  const upstream = openProxyUpstream({ keepAlive });
  open.push(target, upstream);
  let calls = 0;
  const get = async (path: string, checkIds = true): Promise<string> => {
    const messages = await arrived();
    const route = {
      origin: `${secured === undefined ? 'http://127.0.0.1' : 'https://localhost'}:${target.port}`,
      body_bytes: 5,
      timeout_ms: 5000,
      check_ids: checkIds,
    };
    const headers = { 'x-request-id': `${ID_BEGIN}${++calls + 100}` };
    const request = { route, method: 'GET', target: path, headers, body: undefined, totalMs: undefined, messages };
    const result = await upstream.call(request, { cancelled: false, onCancel: () => undefined });
    if (typeof result === 'string') return result;
    const pieces: Uint8Array[] = [];
    result.body.on('data', (bytes: Uint8Array) => void pieces.push(bytes)).resume();
    await new Promise((resolve) => result.body.once('end', resolve).once('error', resolve));
    return result.body.errored === null ? `${result.status} ${Buffer.concat(pieces).toString()}` : 'broken';
  };
  return { target, get };
}

describe('an answer', () => {
  test.each([
    ['the id of its request', (id: string) => `X-Request-Id: ${id}\r\n`, true, '200 /a'],
    ['no id', () => '', true, '200 /a'],
    ["another request's id", () => `X-Request-Id: ${OTHER}\r\n`, true, 'foreign_id'],
    ["its own and another request's", (id: string) => `X-Request-Id: ${id}\r\nX-Request-Id: ${OTHER}\r\n`, true, 'foreign_id'],
    ["another request's id, and a long one", () => `X-Request-Id: ${OTHER}\r\nX-Request-Id: ${'x'.repeat(200)}\r\n`, true, 'foreign_id'],
    ["the server's own id", () => 'X-Request-Id: req_1\r\n', true, '200 /a'],
    ["its own and the server's", (id: string) => `X-Request-Id: ${id}\r\nX-Request-Id: req_1\r\n`, true, '200 /a'],
    ['its own twice', (id: string) => `X-Request-Id: ${id}\r\nX-Request-Id: ${id}\r\n`, true, '200 /a'],
    ["another request's id, if ids are not checked", () => `X-Request-Id: ${OTHER}\r\n`, false, '200 /a'],
  ] as const)('with %s', async (_name, fields, checkIds, expected) => {
    const { target, get } = await scene();
    target.respond = (connection) => void connection.socket.write(lengthAnswer(pathOf(connection), fields(idOf(connection))));
    expect(await get('/a', checkIds)).toBe(expected);
    if (expected === 'foreign_id') await target.until(() => target.open === 0);
  });

  const chunked = (path: string, trailer: string): string =>
    `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${path.length}\r\n${path}\r\n0\r\n${trailer}\r\n`;

  test.each([
    ['an interim response', (path: string, id: string) => `HTTP/1.1 103 Early Hints\r\nX-Request-Id: ${id}\r\n\r\n${lengthAnswer(path)}`],
    ['its trailers', (path: string, id: string) => chunked(path, `X-Request-Id: ${id}\r\n`)],
  ])('with another id in %s is refused, and with its own is not', async (_where, respond) => {
    const { target, get } = await scene();
    target.respond = (connection) => void connection.socket.write(respond(pathOf(connection), idOf(connection)));
    expect(await get('/a')).toBe('200 /a');
    target.respond = (connection) => void connection.socket.write(respond(pathOf(connection), OTHER));
    expect(await get('/a', false)).toBe('200 /a');
    expect(await get('/a')).toBe('foreign_id');
  });

  test('with another id in trailers that arrive after its body is broken', async () => {
    const { target, get } = await scene();
    target.respond = (connection) => {
      const [begin, end] = chunked(pathOf(connection), `X-Request-Id: ${OTHER}\r\n`).split(/(?=0\r\nX)/) as [string, string];
      connection.socket.write(begin);
      setTimeout(() => connection.socket.write(end), 50);
    };
    expect(await get('/a')).toBe('broken');
    await target.until(() => target.open === 0);
  });

  test('that comes twice, or late, is no other request’s where ids are not repeated: each has a connection of its own', async () => {
    const { target, get } = await scene();
    target.respond = (connection) => void connection.socket.write(lengthAnswer(pathOf(connection)) + lengthAnswer('twice'));
    expect([await get('/a'), await get('/b')]).toEqual(['200 /a', '200 /b']);
    expect(target.connections.map(({ requests }) => requests)).toEqual([1, 1]);
  });
});

describe('a target that repeats ids', () => {
  const withId = (connection: RawConnection, id = idOf(connection)): string => lengthAnswer(pathOf(connection), `X-Request-Id: ${id}\r\n`);

  test('gets one request after the other on a connection', async () => {
    const { target, get } = await scene();
    target.respond = (connection) => void connection.socket.write(withId(connection));
    // The first shows that it repeats them.
    for (const path of ['/a', '/b', '/c', '/d']) expect(await get(path)).toBe(`200 ${path}`);
    expect(target.connections.map(({ requests }) => requests)).toEqual([1, 3]);
  });

  test.each([
    ['ids are not checked', false, true],
    ['connections are not to be kept', true, false],
  ])('does not if %s', async (_why, checkIds, keepAlive) => {
    const { target, get } = await scene({ keepAlive });
    target.respond = (connection) => void connection.socket.write(withId(connection));
    for (const path of ['/a', '/b', '/c']) expect(await get(path, checkIds)).toBe(`200 ${path}`);
    expect(target.connections.map(({ requests }) => requests)).toEqual([1, 1, 1]);
  });

  test('and then leaves one out is refused where that may be another’s answer, and has a connection for each from then on', async () => {
    const { target, get } = await scene();
    target.respond = (connection) => void connection.socket.write(withId(connection));
    for (const path of ['/a', '/b']) expect(await get(path)).toBe(`200 ${path}`);
    target.respond = (connection) => void connection.socket.write(lengthAnswer(pathOf(connection)));
    expect(await get('/c')).toBe('foreign_id');
    target.respond = (connection) => void connection.socket.write(withId(connection));
    for (const path of ['/d', '/e']) expect(await get(path)).toBe(`200 ${path}`);
    expect(target.connections.map(({ requests }) => requests)).toEqual([1, 2, 1, 1]);
  });

  test.each([
    ['at once', (socket: Socket, delayed: string) => socket.write(delayed)],
    ['while it rests', (socket: Socket, delayed: string) => void setImmediate(() => socket.write(delayed))],
    ['before the next', (socket: Socket, delayed: string) => void (delayedOn = { socket, delayed })],
  ])('and answers twice, %s, gives nobody the second answer', async (_when, again) => {
    const { target, get } = await scene();
    target.respond = (connection) => {
      if (delayedOn?.socket === connection.socket) connection.socket.write(delayedOn.delayed);
      connection.socket.write(withId(connection));
      again(connection.socket, withId(connection));
    };
    const results: string[] = [];
    for (const path of ['/a', '/b', '/c', '/d', '/e']) results.push(`${path}: ${await get(path)}`);
    for (const result of results) expect(result).toMatch(/^(\/.): (?:200 \1|foreign_id|reset)$/);
    expect(results.filter((result) => result.includes('200')).length).toBeGreaterThan(1);
  });

  let delayedOn: { readonly socket: Socket; readonly delayed: string } | undefined;
  afterEach(() => void (delayedOn = undefined));
});

describe('a target', () => {
  test.each([
    ['keeps its connection open', 'HTTP/1.1 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\n/a', '200 /a'],
    ['answers by HTTP/1.0 with a length', 'HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\n/a', '200 /a'],
    ['answers by HTTP/1.0 until its end', 'HTTP/1.0 200 OK\r\n\r\n/a', 'no_length'],
    ['switches protocols', 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n', 'reset'],
    ['answers with two lengths', 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n/ab', 'reset'],
  ])('that %s', async (_what, answer, expected) => {
    const { target, get } = await scene();
    target.respond = ({ socket }) => void socket.write(answer);
    const startedMs = performance.now();
    expect(await get('/a')).toBe(expected);
    // Not by the silence of a target that has nothing more to say.
    expect(performance.now() - startedMs).toBeLessThan(5000);
    expect(target.connections[0]!.received).toMatch(/\r\nconnection: close\r\n/i);
    await target.until(() => target.open === 0);
  });

  test('behind TLS is reached if its certificate is trusted', async () => {
    const { engine, trust } = await securedEngine();
    const { target, get } = await scene({ secured: engine });
    target.respond = (connection) => void connection.socket.write(lengthAnswer(pathOf(connection)));
    expect(await get('/a')).toBe('reset');
    open.push({ close: trust() });
    expect([await get('/b'), await get('/c')]).toEqual(['200 /b', '200 /c']);
  });
});
