// Keep-alive connections to one upstream, which are abandoned if it sends unsolicited bytes.
import { Agent as HttpAgent } from 'node:http';
import type { ClientRequest } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import type { Socket } from 'node:net';

/** Maximum number of idle connections. */
const FREE_CONNECTIONS_MAX = 64;
/** How long after unsolicited bytes no connection is reused. */
const DISTRUST_MS = 60_000;

/** A call on a reused connection: its answer may belong to an earlier request. */
export interface DoubtfulCall {
  /** It is no longer certain that the next answer belongs to this call. */
  distrust(): void;
}

export class KeptConnections {
  readonly agent: HttpAgent;
  /** The calls on reused connections. */
  readonly calls = new Set<DoubtfulCall>();
  readonly #nowMs: () => number;
  readonly #onUnasked: (begins: boolean) => void;
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

  /** Hooks into Node's agent to learn when a connection becomes idle and when it is reused; in between, no bytes may arrive. */
  #guard(): void {
    const { agent } = this;
    const { keepSocketAlive, reuseSocket } = agent as unknown as {
      readonly keepSocketAlive: (this: HttpAgent, socket: Socket) => boolean;
      readonly reuseSocket: (this: HttpAgent, socket: Socket, request: ClientRequest) => void;
    };
    const resting = new WeakMap<Socket, () => void>();
    Object.assign(agent, {
      keepSocketAlive: (socket: Socket): boolean => {
        // Bytes after the answer that have not been read yet.
        if (socket.readableLength > 0) this.unasked();
        if (this.#distrusts() || !keepSocketAlive.call(agent, socket)) return false;
        const { bytesRead } = socket;
        // Newer versions of Node close the connection at the first byte without reporting it; `bytesRead` then reveals it.
        const look = (): void => {
          if (socket.bytesRead === bytesRead) return;
          socket.off('data', look).off('close', look);
          this.unasked();
        };
        resting.set(socket, look);
        socket.on('data', look).on('close', look);
        return true;
      },
      reuseSocket: (socket: Socket, request: ClientRequest): void => {
        const look = resting.get(socket);
        if (look !== undefined) socket.off('data', look).off('close', look);
        reuseSocket.call(agent, socket, request);
      },
    });
  }

  #distrusts(): boolean {
    return this.#nowMs() < this.#distrustUntilMs;
  }
}
