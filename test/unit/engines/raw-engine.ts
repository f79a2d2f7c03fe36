// A server that records the bytes it receives and sends any bytes, with helpers for calls to it.
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer as createTlsServer, getCACertificates, setDefaultCACertificates } from 'node:tls';
import { Pool } from '../../../src/engines/http1/pool.ts';
import type { Asker, ConnectionUse, PoolRequest, PoolLimits } from '../../../src/engines/http1/pool.ts';
import type { AttemptFailure, EngineCall, EngineResponse } from '../../../src/ports/engine.ts';
import { makeCertificate } from '../../support/certificate.ts';

export interface RawConnection {
  readonly socket: Socket;
  /** Everything received on it so far. */
  received: string;
  /** The number of complete requests received so far. */
  requests: number;
  closed: boolean;
}

/** Called for each complete request, with its body. */
type Respond = (connection: RawConnection, body: string) => void;

const REQUEST = /^[A-Z]+ [^\r]*\r\n(?:[^\r\n]+\r\n)*?(?:[Cc]ontent-[Ll]ength: (\d+)\r\n(?:[^\r\n]+\r\n)*)?\r\n/;

export class RawEngine {
  readonly connections: RawConnection[] = [];
  respond: Respond = (connection, body) => void connection.socket.write(lengthAnswer(body));
  readonly #server: Server;
  readonly #watchers = new Set<() => void>();

  constructor(server = createServer()) {
    this.#server = server;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  async listen(host = '127.0.0.1', event = 'connection'): Promise<this> {
    this.#server.on(event, (socket: Socket) => this.#accept(socket));
    await once(this.#server.listen(0, host), 'listening');
    return this;
  }

  get open(): number {
    return this.connections.filter(({ closed }) => !closed).length;
  }

  /** Waits until the condition is true, checking after every event. */
  until(condition: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      const look = (): void => {
        if (!condition()) return;
        this.#watchers.delete(look);
        resolve();
      };
      this.#watchers.add(look);
      look();
    });
  }

  async close(): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    for (const { socket } of this.connections) socket.destroy();
    await closed;
  }

  #accept(socket: Socket): void {
    const connection: RawConnection = { socket, received: '', requests: 0, closed: false };
    this.connections.push(connection);
    let pending = '';
    socket.setEncoding('latin1').on('error', () => undefined);
    socket.on('data', (piece: string) => {
      connection.received += piece;
      pending += piece;
      for (let next = nextRequest(pending); next !== undefined; next = nextRequest(pending)) {
        pending = pending.slice(next.bytes);
        connection.requests++;
        this.respond(connection, Buffer.from(next.body, 'latin1').toString());
      }
      this.#changed();
    });
    socket.once('close', () => {
      connection.closed = true;
      this.#changed();
    });
    this.#changed();
  }

  #changed(): void {
    for (const look of this.#watchers) look();
  }
}

/** At `https://localhost`, not trusted yet; `trust` returns what takes that back. */
export async function securedEngine(): Promise<{ readonly engine: RawEngine; readonly trust: () => () => void }> {
  const folder = mkdtempSync(join(tmpdir(), 'lingate-raw-engine-'));
  const { certFile, keyFile } = await makeCertificate(folder, 'engine.test', 'DNS:localhost');
  const [key, cert] = [readFileSync(keyFile), readFileSync(certFile)];
  rmSync(folder, { recursive: true });
  const trust = (): (() => void) => {
    const usual = getCACertificates('default');
    setDefaultCACertificates([...usual, cert.toString()]);
    return () => setDefaultCACertificates(usual);
  };
  return { engine: await new RawEngine(createTlsServer({ key, cert })).listen('127.0.0.1', 'secureConnection'), trust };
}

function nextRequest(text: string): { readonly bytes: number; readonly body: string } | undefined {
  const head = REQUEST.exec(text);
  if (head === null) return undefined;
  const bytes = head[0].length + Number(head[1] ?? 0);
  return text.length < bytes ? undefined : { bytes, body: text.slice(head[0].length, bytes) };
}

export function lengthAnswer(body: string, fields = ''): string {
  return `HTTP/1.1 200 OK\r\n${fields}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
}

interface Made {
  readonly call: PoolRequest;
  /** `200` and the body, or the failure. */
  readonly result: Promise<string>;
}

/** A call like those of adapters. */
export function make(wire: Pool, parts: Partial<EngineCall> = {}, connection: ConnectionUse = 'reused', asker: Partial<Asker> = {}): Made {
  const { promise, resolve } = Promise.withResolvers<EngineResponse | AttemptFailure>();
  const call = wire.call({ method: 'POST', path: '/translate', headers: {}, body: 'body', ...parts }, connection, resolve, {
    requestId: '',
    ...asker,
  });
  return {
    call,
    result: promise.then((result) => (typeof result === 'string' ? result : `${result.status} ${Buffer.from(result.body).toString()}`)),
  };
}

export function wireTo(url: string, limits: Partial<PoolLimits> = {}): Pool {
  return new Pool(new URL(url), { timeout_ms: 5000, response_bytes_max: 1 << 21, connections_max: 8, queue_max: 8, ...limits });
}

/** A connection rests after its answer for two turns of the event loop. */
export async function rested(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));
}
