// The webhook's request: its signature is verified with an independent Standard Webhooks library, and only a 2xx in time is success.
import http from 'node:http';
import { createRequire } from 'node:module';
import net from 'node:net';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { postWebhook } from '../../../src/runtime/event-sender.ts';

/** Loaded with require, because its types are not those of a module. */
const { Webhook: Verifier } = createRequire(import.meta.url)('standardwebhooks') as {
  readonly Webhook: new (secret: string) => { verify(body: string, headers: object): unknown };
};

const KEY = Buffer.alloc(32, 7);
const ends: (() => unknown)[] = [];

afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

async function listening(server: net.Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const sockets = new Set<net.Socket>();
  server.on('connection', (socket: net.Socket) => sockets.add(socket));
  ends.push(() => {
    for (const socket of sockets) socket.destroy();
    return new Promise((resolve) => server.close(resolve));
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook?t=1`;
}

const receiver = (handle: http.RequestListener): Promise<string> => listening(http.createServer(handle));

const MESSAGE = { id: 'an-id', contentType: 'application/cloudevents+json', body: '{"name":"Grüße"}' };
const post = (url: string, timeoutMs = 20_000) =>
  postWebhook({ url, key: KEY, timeoutMs, nowMs: Date.now }, MESSAGE, new AbortController().signal);

test('the body arrives byte for byte, and another library accepts the signature, but not for other bytes', async () => {
  const got: { request: http.IncomingMessage; body: string }[] = [];
  const url = await receiver((request, response) => {
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.on('end', () => {
      got.push({ request, body: String(Buffer.concat(pieces)) });
      response.writeHead(204).end();
    });
  });
  expect(await post(url)).toBeUndefined();
  const [{ request, body }] = got as [(typeof got)[0]];
  expect([request.method, request.url, body]).toEqual(['POST', '/hook?t=1', MESSAGE.body]);
  expect(request.headers).toMatchObject({ 'content-type': MESSAGE.contentType, 'webhook-id': 'an-id' });
  const verifier = new Verifier(`whsec_${KEY.toString('base64')}`);
  expect(verifier.verify(body, request.headers)).toEqual({ name: 'Grüße' });
  expect(() => verifier.verify(`${body} `, request.headers)).toThrow('No matching signature found');
  expect(() => verifier.verify(body, { ...request.headers, 'webhook-id': 'another' })).toThrow('No matching signature found');
  const later = String(Number(request.headers['webhook-timestamp']) + 1);
  expect(() => verifier.verify(body, { ...request.headers, 'webhook-timestamp': later })).toThrow('No matching signature found');
});

test.each([200, 202, 299, 301, 304, 400, 410, 500])('%i', async (status) => {
  let requests = 0;
  const url = await receiver((_request, response) => {
    requests++;
    response.writeHead(status, { location: '/elsewhere' }).end('body');
  });
  expect(await post(url)).toEqual(status < 300 ? undefined : { failure: 'status', status });
  expect(requests).toBe(1);
});

/** A receiver that reads a whole request and then writes these bytes, again and again if `endlessly`. */
const raw = (bytes: string, endlessly = false): Promise<string> =>
  listening(
    net.createServer((socket) => {
      socket.on('error', () => undefined);
      let seen = '';
      socket.on('data', (chunk) => {
        seen += chunk.toString('latin1');
        if (!seen.includes(MESSAGE.body.slice(0, 9))) return;
        seen = '';
        const more = (): void => {
          while (!socket.destroyed && socket.write(bytes));
        };
        if (!endlessly) return void socket.write(bytes);
        socket.on('drain', more);
        more();
        return undefined;
      });
    }),
  );

test('the status is enough: receivers that never end their bodies do not hold up other events', async () => {
  let requests = 0;
  const url = await receiver((_request, response) => {
    requests++;
    response.writeHead(200).write('the end never comes');
  });
  const together = await Promise.all(Array.from({ length: 80 }, () => post(url, 10_000)));
  expect(together).toEqual(Array.from({ length: 80 }, () => undefined));
  expect(requests).toBe(80);
});

test('hostile answers are failures in time: endless headers, slow headers, interim answers without end, a change of protocol', async () => {
  const failed = { failure: expect.any(String) as string };
  expect(await post(await raw(`HTTP/1.1 200 OK\r\nX-A: ${'a'.repeat(100_000)}`))).toEqual(failed);
  expect(await post(await raw('X-More: headers\r\n', true))).toEqual(failed);
  expect(await post(await raw('HTTP/1.1 200 OK\r\nX-Slow: y'), 200)).toEqual({ failure: 'timeout' });
  expect(await post(await raw('HTTP/1.1 103 Early Hints\r\n\r\n', true), 200)).toEqual(failed);
  const switching = 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n';
  expect(await post(await raw(switching))).toEqual(failed);
});
