// An upstream for forward routes: does what the path says, repeats ids, so that its connections are used again, and records every request.
import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

export interface SeenRequest {
  readonly method: string;
  readonly target: string;
  /** Names and values as they arrived, in order. */
  readonly fields: readonly (readonly [name: string, value: string])[];
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Length and SHA-256 of a body that arrived completely. */
  body?: { readonly bytes: number; readonly sha256: string };
}

export interface TestUpstream {
  readonly url: string;
  readonly seen: SeenRequest[];
  /** Errors of requests that could not be parsed. */
  readonly broken: string[];
  /** Open connections. */
  readonly connections: number;
  /** Lets the answer to `/…/held` continue. */
  letGo(): void;
  close(): Promise<void>;
}

/** What every download repeats. */
const PATTERN = Buffer.from(Uint8Array.from({ length: 131_072 }, (_, i) => (i * 31 + (i >> 9)) & 0xff));

/** The bytes of any download from this offset. */
export function downloadPiece(from: number, length: number): Buffer {
  const bytes = Buffer.allocUnsafe(length);
  for (let at = 0; at < length;) at += PATTERN.copy(bytes, at, (from + at) % PATTERN.length);
  return bytes;
}

export function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

const PIECE_BYTES = 65_536;

/**
 * The last segments of a path, after any others: `voices`, `sink` (reads the body and returns its length and hash; `slow-sink`
 * rests after each megabyte),
 * `bytes/N`, `chunked/N`, `status/N`, `dies/N` (in the middle of an answer of 4000 bytes; `dies-chunked/N` without a
 * length), `silent`, `stalls/N`, `held`, `gzip`, `no-length`, `empty`, `fields`, `early/N` (answers with that status
 * before it has read anything), `reads-nothing`, `hangs-up` (in the middle of the body), `flaky` (fails once, then answers).
 */
export async function startUpstream(): Promise<TestUpstream> {
  const seen: SeenRequest[] = [];
  const broken: string[] = [];
  const sockets = new Set<Socket>();
  const held: (() => void)[] = [];
  const flaked = new Set<string>();
  const server = createServer({ requireHostHeader: false, keepAliveTimeout: 60_000 }, (request, response) => {
    const { method = '', url = '' } = request;
    const fields = request.rawHeaders.flatMap((name, i, all) => (i % 2 === 0 ? [[name, all[i + 1]!] as const] : []));
    const entry: SeenRequest = { method, target: url, fields, headers: request.headers };
    seen.push(entry);
    const { 'x-request-id': id } = request.headers;
    if (id !== undefined) response.setHeader('X-Request-Id', id);
    const words = url.split('?')[0]!.split('/').slice(3);
    const [verb = '', argument = '0'] = words.length === 0 ? ['voices'] : words;
    const act = (): void => answer(verb, Number(argument), { request, response, entry, held, flaked });
    if (verb === 'reads-nothing') return;
    if (verb === 'hangs-up') return void request.once('data', () => request.socket.destroy());
    if (verb.startsWith('early')) return act();
    readBody(request, entry, verb === 'slow-sink', act);
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    if (error.code?.startsWith('HPE') === true) broken.push(error.code);
    socket.destroy();
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.once('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    broken,
    get connections() {
      return sockets.size;
    },
    letGo: () => held.shift()?.(),
    close() {
      for (const socket of sockets) socket.destroy();
      return new Promise((resolve) => void server.close(() => resolve()));
    },
  };
}

/** How long a slow reader rests, and after how many bytes. */
const REST = { ms: 10, afterBytes: 1_048_576 } as const;

function readBody(request: IncomingMessage, entry: SeenRequest, slowly: boolean, done: () => void): void {
  const hash = createHash('sha256');
  let bytes = 0;
  request.on('data', (chunk: Buffer) => {
    const rests = slowly && Math.floor(bytes / REST.afterBytes) < Math.floor((bytes + chunk.byteLength) / REST.afterBytes);
    bytes += chunk.byteLength;
    hash.update(chunk);
    if (!rests) return;
    request.pause();
    setTimeout(() => request.resume(), REST.ms);
  });
  request.on('error', () => undefined);
  request.on('end', () => {
    entry.body = { bytes, sha256: hash.digest('hex') };
    done();
  });
}

interface Act {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly entry: SeenRequest;
  readonly held: (() => void)[];
  readonly flaked: Set<string>;
}

function answer(verb: string, count: number, { request, response, entry, held, flaked }: Act): void {
  const { socket } = request;
  switch (verb) {
    case 'sink':
    case 'slow-sink':
      return json(response, entry.body);
    case 'bytes':
      return send(response, count, true);
    case 'chunked':
      return send(response, count, false);
    case 'status':
    case 'early':
      response.writeHead(count, { 'content-type': 'text/plain', location: 'http://canary.internal/', 'x-canary': 'canary-field' });
      return void response.end('canary-body of the upstream');
    case 'dies':
    case 'dies-chunked':
      response.writeHead(
        200,
        verb === 'dies' ? { 'content-length': 4000, 'content-type': 'text/plain' } : { 'content-type': 'text/plain' },
      );
      response.flushHeaders();
      if (count === 0) return void socket.end();
      return void response.write(downloadPiece(0, count), () => socket.destroySoon());
    case 'stalls':
      response.writeHead(200, { 'content-length': count + 1000 });
      return void response.write(downloadPiece(0, count));
    case 'silent':
      return;
    case 'held':
      return void held.push(() => json(response, { held: true }));
    case 'gzip':
      return void response.writeHead(200, { 'content-encoding': 'gzip', 'content-type': 'text/plain' }).end('not really');
    case 'no-length':
      socket.write('HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nConnection: close\r\n\r\nhalf of it');
      return void socket.end();
    case 'empty':
      return void response.writeHead(count === 0 ? 200 : count, { etag: '"e1"', ...(count === 0 ? { 'content-length': 0 } : {}) }).end();
    case 'flaky':
      if (!flaked.has(entry.target)) {
        flaked.add(entry.target);
        return void socket.destroy();
      }
      return json(response, { second: true });
    default:
      response.setHeader('etag', '"v1"');
      response.setHeader('server', 'canary-server');
      response.setHeader('x-powered-by', 'canary-power');
      response.setHeader('set-cookie', ['canary=1', 'b=2']);
      return json(response, { voices: ['anna'], target: entry.target });
  }
}

function json(response: ServerResponse, value: unknown): void {
  const body = JSON.stringify(value);
  response.setHeader('content-type', 'application/json');
  response.setHeader('content-length', Buffer.byteLength(body));
  response.end(body);
}

/** As fast as it is read. */
function send(response: ServerResponse, bytes: number, sized: boolean): void {
  response.writeHead(200, { 'content-type': 'application/octet-stream', ...(sized ? { 'content-length': bytes } : {}) });
  let at = 0;
  const more = (): void => {
    while (at < bytes) {
      const length = Math.min(PIECE_BYTES, bytes - at);
      at += length;
      if (!response.write(downloadPiece(at - length, length))) {
        response.once('drain', more);
        return;
      }
    }
    response.end();
  };
  more();
}
