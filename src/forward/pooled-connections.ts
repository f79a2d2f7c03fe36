// Keep-alive connections to one upstream, which are abandoned if it sends unsolicited bytes. They
// carry no bodies: a server that does not read one to its end takes the rest for the next request,
// and its answer would be given to another caller.
import { Agent as HttpAgent } from 'node:http';
import type { ClientRequest } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import type { Socket } from 'node:net';
import type { ProxyCall } from './proxy-call.ts';

/** Maximum number of idle connections. */
const FREE_CONNECTIONS_MAX = 64;
/** How long after unsolicited bytes no connection is reused. */
const DISTRUST_MS = 60_000;

/** A connection between two requests; while a request is on it, bytes are its answer. */
interface Pooled {
  isIdle: boolean;
  /** Bytes read until it became idle. */
  bytesRead: number;
}

export class PooledConnections {
  readonly agent: HttpAgent;
  /** The calls on reused connections: their answers may belong to earlier requests. */
  readonly calls = new Set<ProxyCall>();
  readonly #nowMs: () => number;
  readonly #onUnasked: (begins: boolean) => void;
  readonly #pooled = new WeakMap<Socket, Pooled>();
  #distrustUntilMs = 0;
  constructor(secure: boolean, nowMs: () => number, onUnasked: (begins: boolean) => void) {
    this.#nowMs = nowMs;
    this.#onUnasked = onUnasked;
    // The number of connections is unlimited, so that a slow reader does not make others wait.
    const options = { keepAlive: true, maxFreeSockets: FREE_CONNECTIONS_MAX };
    this.agent = secure ? new HttpsAgent(options) : new HttpAgent(options);
    this.#guard();
  }

  /** Unsolicited bytes arrived: closes all idle connections, and fails calls on reused ones. */
  unasked(): void {
    const begins = !this.#distrusts();
    this.#distrustUntilMs = this.#nowMs() + DISTRUST_MS;
    for (const sockets of Object.values(this.agent.freeSockets)) for (const socket of sockets ?? []) socket.destroy();
    for (const call of this.calls) call.distrust();
    this.#onUnasked(begins);
  }

  /** Learns when a connection becomes idle and is reused: in between, no bytes may arrive. */
  #guard(): void {
    const { agent } = this;
    const { keepSocketAlive, reuseSocket } = agent as unknown as {
      readonly keepSocketAlive: (this: HttpAgent, socket: Socket) => boolean;
      readonly reuseSocket: (this: HttpAgent, socket: Socket, request: ClientRequest) => void;
    };
    Object.assign(agent, {
      keepSocketAlive: (socket: Socket): boolean => {
        // Bytes after the answer that have not been read yet.
        if (socket.readableLength > 0) this.unasked();
        const pooled = this.#pooledOf(socket);
        if (this.#distrusts() || !keepSocketAlive.call(agent, socket)) return false;
        pooled.bytesRead = socket.bytesRead;
        pooled.isIdle = true;
        return true;
      },
      reuseSocket: (socket: Socket, request: ClientRequest): void => {
        this.#pooledOf(socket).isIdle = false;
        reuseSocket.call(agent, socket, request);
      },
    });
  }

  /** From the first answer on: adding and removing listeners at each request would cost more. */
  #pooledOf(socket: Socket): Pooled {
    const known = this.#pooled.get(socket);
    if (known !== undefined) return known;
    const pooled: Pooled = { isIdle: false, bytesRead: 0 };
    this.#pooled.set(socket, pooled);
    // Newer Nodes close at the first byte without reporting it; `bytesRead` then reveals it.
    const look = (): void => {
      if (!pooled.isIdle || socket.bytesRead === pooled.bytesRead) return;
      pooled.isIdle = false;
      this.unasked();
    };
    socket.on('data', look).on('close', look);
    return pooled;
  }

  #distrusts(): boolean {
    return this.#nowMs() < this.#distrustUntilMs;
  }
}
