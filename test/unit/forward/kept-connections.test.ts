// Forward routes: to which request an answer belongs, and how an upstream that sends unexpected bytes is treated from then on.
import { createServer, get as getOver } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { openProxyUpstream } from '../../../src/forward/upstream.ts';
import type { ProxyUpstream } from '../../../src/forward/upstream.ts';
import { lengthAnswer, RawEngine, rested } from '../engines/raw-engine.ts';
import type { RawConnection } from '../engines/raw-engine.ts';

const open: { close(): void | Promise<void> }[] = [];
afterEach(async () => {
  for (const item of open.splice(0).toReversed()) await item.close();
});

interface Scene {
  readonly target: RawEngine;
  readonly upstream: ProxyUpstream;
  readonly told: boolean[];
  nowMs: number;
  /** The status and the whole body, or the failure; `broken` in the middle of an answer. */
  readonly get: (path?: string, checkIds?: boolean) => Promise<string>;
}

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

async function scene(keepAlive = true): Promise<Scene> {
  const target = await new RawEngine().listen();
  target.respond = (connection) => void connection.socket.write(lengthAnswer(pathOf(connection)));
  const told: boolean[] = [];
  let calls = 0;
  const made = { target, told, nowMs: 1_000_000 };
  const upstream = openProxyUpstream({ keepAlive, nowMs: () => made.nowMs, onUnasked: (_origin, begins) => void told.push(begins) });
  open.push(target, upstream);
  const ask = async (path = '/a', checkIds = true): Promise<string> => {
    const messages = await arrived();
    const route = { origin: `http://127.0.0.1:${target.port}`, body_bytes: 5, timeout_ms: 5000, check_ids: checkIds };
    const headers = { 'x-request-id': `${ID_BEGIN}${++calls + 100}` };
    const request = { route, method: 'GET', target: path, headers, body: undefined, totalMs: undefined, messages };
    const result = await upstream.call(request, { cancelled: false, onCancel: () => undefined });
    if (typeof result === 'string') return result;
    const pieces: Uint8Array[] = [];
    const ended = await new Promise<string>((resolve) => {
      result.body.on('data', (bytes: Uint8Array) => void pieces.push(bytes));
      result.body.once('end', () => resolve(result.body.errored === null ? 'whole' : 'broken'));
      result.body.once('error', () => resolve('broken'));
      result.body.resume();
    });
    await rested();
    return ended === 'whole' ? `${result.status} ${Buffer.concat(pieces).toString()}` : ended;
  };
  return Object.assign(made, { upstream, get: ask });
}

const requests = ({ target }: Scene): number[] => target.connections.map((connection) => connection.requests);

describe('an answer', () => {
  test.each([
    ['the id of its request', (id: string) => `X-Request-Id: ${id}\r\n`, true, '200 /a'],
    ['no id', () => '', true, '200 /a'],
    ["another request's id", () => `X-Request-Id: ${OTHER}\r\n`, true, 'foreign_id'],
    ["its own and another request's", (id: string) => `X-Request-Id: ${id}\r\nX-Request-Id: ${OTHER}\r\n`, true, 'foreign_id'],
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
    const { target, get, told } = await scene();
    target.respond = (connection) => void connection.socket.write(respond(pathOf(connection), idOf(connection)));
    expect([await get('/a'), await get('/a'), target.connections.length]).toEqual(['200 /a', '200 /a', 1]);
    target.respond = (connection) => void connection.socket.write(respond(pathOf(connection), OTHER));
    expect(await get('/a', false)).toBe('200 /a');
    expect([await get('/a'), told]).toEqual(['foreign_id', [true]]);
    await target.until(() => target.open === 0);
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

  test('followed by more bytes in the same chunk is used on a new connection, or with its id, and not on a reused one', async () => {
    const made = await scene();
    const { target, get, told } = made;
    expect(await get('/a')).toBe('200 /a');
    target.respond = (connection) => void connection.socket.write(lengthAnswer('late') + lengthAnswer(pathOf(connection)));
    expect(await get('/b')).toBe('unasked');
    expect(told).toEqual([true]);
    target.respond = (connection) => void connection.socket.write(lengthAnswer(pathOf(connection)) + lengthAnswer('twice'));
    expect(await get('/c')).toBe('200 /c');
    made.nowMs += 60_000;
    target.respond = (connection) => {
      const answer = lengthAnswer(pathOf(connection), `X-Request-Id: ${idOf(connection)}\r\n`);
      connection.socket.write(connection.requests === 1 ? answer : answer + answer);
    };
    expect(await get('/d')).toBe('200 /d');
    expect(await get('/e')).toBe('200 /e');
    expect(requests(made)).toEqual([2, 1, 2]);
  });
});

const PATHS = ['/4', '/5', '/6', '/7'];

describe('after unexpected bytes', () => {
  test('every kept connection is closed, and each request gets a new one, until a minute has passed', async () => {
    const made = await scene();
    const { target, get, told } = made;
    await Promise.all([get('/1'), get('/2'), get('/3')]);
    expect(target.open).toBe(3);
    target.connections[1]!.socket.write(lengthAnswer('late'));
    await target.until(() => target.open === 0);
    for (const path of ['/4', '/5']) expect(await get(path)).toBe(`200 ${path}`);
    made.nowMs += 59_999;
    expect(await get('/6')).toBe('200 /6');
    made.nowMs += 1;
    for (const path of ['/7', '/8']) expect(await get(path)).toBe(`200 ${path}`);
    expect(requests(made)).toEqual([1, 1, 1, 1, 1, 1, 2]);
    expect(told).toEqual([true]);
  });

  test('requests on reused connections are aborted, even in the middle of an answer, those on new ones continue', async () => {
    const made = await scene();
    const { target, get } = made;
    await Promise.all([get('/1'), get('/2'), get('/3')]);
    const held = new Map<string, RawConnection>();
    target.respond = (connection) => void held.set(pathOf(connection), connection);
    const asked = PATHS.map((path) => get(path));
    await target.until(() => held.size === 4);
    const reused = [...held].filter(([, connection]) => connection.requests === 2);
    const [fresh] = [...held].filter(([, connection]) => connection.requests === 1);
    expect(reused).toHaveLength(3);
    const [one, begun, waits] = reused;
    begun![1].socket.write('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf');
    await rested();
    await rested();
    one![1].socket.write('no HTTP\r\n\r\n');
    const results = await Promise.all([one!, begun!, waits!].map(([path]) => asked[PATHS.indexOf(path)]!));
    expect(results).toEqual(['unasked', 'broken', 'unasked']);
    fresh![1].socket.write(lengthAnswer('yes'));
    expect(await asked[PATHS.indexOf(fresh![0])]).toBe('200 yes');
  });
});
