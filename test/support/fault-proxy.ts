// A TCP proxy that misbehaves on command: slow, dripping, silent, cut off, or cut exactly when the request has gone through.
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

/** What the proxy does to connections, old and new, from the moment it is set. Requests always get through unless stated. */
export type ProxyFault =
  | { readonly kind: 'none' }
  /** Every reply is delayed by this long; their order stays. */
  | { readonly kind: 'delay'; readonly delayMs: number }
  /** Replies arrive in pieces of this many bytes, one per interval. */
  | { readonly kind: 'drip'; readonly bytes: number; readonly everyMs: number }
  /** Nothing gets through in either direction, and neither side is notified. */
  | { readonly kind: 'blackhole' }
  /** The request is run, its reply is dropped and the connection reset; `draw` decides for each piece of a reply. */
  | { readonly kind: 'cut_reply'; readonly draw: () => boolean }
  /** Connections are refused, and existing ones are reset. */
  | { readonly kind: 'refuse' };

export interface FaultProxy {
  readonly port: number;
  /** Connections reset so far, by the fault. */
  readonly cuts: number;
  /** Bytes of requests swallowed by the black hole. */
  readonly swallowed: number;
  set(fault: ProxyFault): Promise<void>;
  close(): Promise<void>;
}

/** `watch` sees what is requested before the server does. */
export async function startFaultProxy(targetPort: number, watch?: (request: string) => void): Promise<FaultProxy> {
  const proxy = new Proxy(targetPort, watch);
  await proxy.listen();
  return proxy;
}

const NONE: ProxyFault = { kind: 'none' };

class Proxy implements FaultProxy {
  readonly #targetPort: number;
  readonly #watch: (request: string) => void;
  readonly #links = new Set<Link>();
  #server: Server | undefined;
  #fault: ProxyFault = NONE;
  port = 0;
  cuts = 0;
  swallowed = 0;

  constructor(targetPort: number, watch: (request: string) => void = () => undefined) {
    this.#targetPort = targetPort;
    this.#watch = watch;
  }

  async listen(): Promise<void> {
    const server = createServer({ noDelay: true }, (client) => this.#join(client));
    server.listen(this.port, '127.0.0.1');
    await once(server, 'listening');
    this.port = (server.address() as AddressInfo).port;
    this.#server = server;
  }

  async set(fault: ProxyFault): Promise<void> {
    this.#fault = fault;
    for (const link of this.#links) link.fault = fault;
    if (fault.kind === 'refuse') await this.#deafen();
    else if (this.#server === undefined) await this.listen();
  }

  async close(): Promise<void> {
    await this.#deafen();
  }

  async #deafen(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    const closed = server === undefined ? undefined : once(server, 'close');
    server?.close();
    for (const link of this.#links) link.reset();
    await closed;
  }

  #join(client: Socket): void {
    client.on('data', (request) => this.#watch(request.toString('latin1')));
    const link = new Link(client, connect({ port: this.#targetPort, host: '127.0.0.1', noDelay: true }), this.#fault);
    this.#links.add(link);
    link.onSwallowed = (bytes) => {
      this.swallowed += bytes;
    };
    link.onEnd = (wasReset) => {
      if (wasReset) this.cuts++;
      this.#links.delete(link);
    };
  }
}

/** A client's connection and its counterpart to the server. */
class Link {
  readonly #client: Socket;
  readonly #server: Socket;
  readonly #ending = new AbortController();
  /** Replies in transit, in order; each is sent when it is due. */
  #queue: Promise<void> = Promise.resolve();
  fault: ProxyFault;
  onSwallowed: (bytes: number) => void = () => undefined;
  onEnd: (wasReset: boolean) => void = () => undefined;

  constructor(client: Socket, server: Socket, fault: ProxyFault) {
    this.#client = client;
    this.#server = server;
    this.fault = fault;
    for (const socket of [client, server]) {
      socket.on('error', () => this.#end(false));
      socket.on('close', () => this.#end(false));
    }
    client.on('data', (request) => {
      if (this.fault.kind === 'blackhole') this.onSwallowed(request.length);
      else server.write(request);
    });
    server.on('data', (reply) => this.#reply(reply));
  }

  reset(): void {
    if (this.#ending.signal.aborted) return;
    this.#client.resetAndDestroy();
    this.#server.resetAndDestroy();
    this.#end(true);
  }

  #reply(reply: Buffer): void {
    const fault = this.fault;
    switch (fault.kind) {
      case 'none':
        return this.#pass(reply, 0);
      case 'delay':
        return this.#pass(reply, performance.now() + fault.delayMs);
      case 'drip':
        return this.#drip(reply, fault.bytes, fault.everyMs);
      case 'blackhole':
        return;
      case 'cut_reply':
        return fault.draw() ? this.reset() : this.#pass(reply, 0);
      case 'refuse':
        return this.reset();
    }
  }

  #drip(reply: Buffer, bytes: number, everyMs: number): void {
    for (let at = 0; at < reply.length; at += bytes) {
      this.#then(() => delay(everyMs, undefined, { signal: this.#ending.signal }));
      this.#pass(reply.subarray(at, at + bytes), 0);
    }
  }

  #pass(piece: Buffer, atMs: number): void {
    this.#then(async () => {
      const leftMs = atMs - performance.now();
      if (leftMs > 0) await delay(leftMs, undefined, { signal: this.#ending.signal });
      this.#client.write(piece);
    });
  }

  #then(act: () => Promise<void>): void {
    // Rejects when the connection ends, with everything queued behind it.
    this.#queue = this.#queue.then(act);
    this.#queue.catch(() => undefined);
  }

  /** What the other side sent before it closed is delivered first. */
  #end(wasReset: boolean): void {
    if (this.#ending.signal.aborted) return;
    const close = (): void => {
      if (this.#ending.signal.aborted) return;
      this.#ending.abort();
      if (wasReset) this.#client.destroy();
      else this.#client.end(() => this.#client.destroy());
      this.#server.destroy();
      this.onEnd(wasReset);
    };
    if (wasReset || this.#client.destroyed) close();
    else this.#queue.then(close, close);
  }
}
