// The connections that are kept to one upstream, until it sends something that nobody asked for.
import { Agent as HttpAgent } from 'node:http';
import type { ClientRequest } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import type { Socket } from 'node:net';

/** Connections that wait for their next request. */
const FREE_CONNECTIONS_MAX = 64;
/** For so long behind bytes that nobody had asked for, no connection is used for a second request. */
const DISTRUST_MS = 60_000;

/** A call on a connection that carried another one before: what comes may be an answer to that. */
export interface DoubtfulCall {
  /** It can no longer be told whose answer is on its way. */
  distrust(): void;
}

export class KeptConnections {
  readonly agent: HttpAgent;
  readonly #nowMs: () => number;
  readonly #onUnasked: (begins: boolean) => void;
  readonly #calls = new Set<DoubtfulCall>();
  #distrustUntilMs = 0;

  constructor(secure: boolean, nowMs: () => number, onUnasked: (begins: boolean) => void) {
    this.#nowMs = nowMs;
    this.#onUnasked = onUnasked;
    // Without a bound on connections: a caller who reads slowly must keep nobody waiting.
    const options = { keepAlive: true, maxFreeSockets: FREE_CONNECTIONS_MAX };
    this.agent = secure ? new HttpsAgent(options) : new HttpAgent(options);
    this.#guard();
  }

  watch(call: DoubtfulCall): void {
    this.#calls.add(call);
  }

  forget(call: DoubtfulCall): void {
    this.#calls.delete(call);
  }

  /** Bytes came that nobody had asked for: all kept connections end, and calls on those that are not new are given up. */
  unasked(): void {
    const begins = !this.#distrusts();
    this.#distrustUntilMs = this.#nowMs() + DISTRUST_MS;
    for (const sockets of Object.values(this.agent.freeSockets)) for (const socket of sockets ?? []) socket.destroy();
    for (const call of this.#calls) call.distrust();
    this.#onUnasked(begins);
  }

  /** Node's agent says when it would keep a connection and when it takes it again; in between nothing may come on it. */
  #guard(): void {
    const { agent } = this;
    const { keepSocketAlive, reuseSocket } = agent as unknown as {
      readonly keepSocketAlive: (this: HttpAgent, socket: Socket) => boolean;
      readonly reuseSocket: (this: HttpAgent, socket: Socket, request: ClientRequest) => void;
    };
    const resting = new WeakMap<Socket, () => void>();
    Object.assign(agent, {
      keepSocketAlive: (socket: Socket): boolean => {
        // Behind the answer, and not yet looked at.
        if (socket.readableLength > 0) this.unasked();
        if (this.#distrusts() || !keepSocketAlive.call(agent, socket)) return false;
        const { bytesRead } = socket;
        // Newer versions of Node end it at the first byte and say nothing: then it has read more than before.
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
