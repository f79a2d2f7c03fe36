// Keep-alive connections to one upstream, which are abandoned if it sends unsolicited bytes.
import { Agent as HttpAgent } from 'node:http';
import type { ClientRequest } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import type { Socket } from 'node:net';

/** Maximum number of idle connections. */
const FREE_CONNECTIONS_MAX = 64;
/** How long after unsolicited bytes no connection is reused. */
const DISTRUST_MS = 60_000;
/**
 * A request with a body cannot be repeated, so it only goes to a connection that the upstream is not about to close: servers keep
 * idle ones for two seconds or more.
 */
const REST_BEFORE_BODY_MS = 1_000;

/** A call on a reused connection: its answer may belong to an earlier request. */
export interface DoubtfulCall {
  /** It is no longer certain that the next answer belongs to this call. */
  distrust(): void;
}

/** A connection between two requests. */
interface Kept {
  /** When it became idle; `undefined` while a request is on it. */
  idleSinceMs: number | undefined;
  /** Bytes read until then. */
  bytesRead: number;
  /** Some request on it had a body. */
  hadBody: boolean;
}

export class KeptConnections {
  readonly agent: HttpAgent;
  /** The calls on reused connections. */
  readonly calls = new Set<DoubtfulCall>();
  readonly #nowMs: () => number;
  readonly #onUnasked: (begins: boolean) => void;
  readonly #kept = new WeakMap<Socket, Kept>();
  #distrustUntilMs = 0;
  /** Whether every answer so far had the id of its request. */
  #repeatsIds: boolean | undefined = undefined;

  constructor(secure: boolean, nowMs: () => number, onUnasked: (begins: boolean) => void) {
    this.#nowMs = nowMs;
    this.#onUnasked = onUnasked;
    // The number of connections is unlimited, so that a slow reader does not make others wait.
    const options = { keepAlive: true, maxFreeSockets: FREE_CONNECTIONS_MAX };
    this.agent = secure ? new HttpsAgent(options) : new HttpAgent(options);
    this.#guard();
  }

  /**
   * The agent for a request with a body; `undefined` if it needs a connection of its own. A server that does not read a body to its
   * end would take the rest for the next request, and its answer for that of another caller. So a connection is only used after a
   * body if the server repeats the ids of requests: it shows which answer is whose.
   */
  get agentForBody(): HttpAgent | undefined {
    if (this.#repeatsIds !== true) return undefined;
    const oldestMs = this.#nowMs() - REST_BEFORE_BODY_MS;
    for (const sockets of Object.values(this.agent.freeSockets)) {
      for (const socket of sockets ?? []) if ((this.#kept.get(socket)?.idleSinceMs ?? Infinity) < oldestMs) socket.destroy();
    }
    return this.agent;
  }

  /** The head of an answer has arrived. `false` if it may be that of another request. */
  vouchesFor(request: ClientRequest, repeatsId: boolean, hasBody: boolean): boolean {
    // For good: it is not known which of its answers have one.
    this.#repeatsIds = repeatsId && this.#repeatsIds !== false;
    const { socket, agent } = request as ClientRequest & { readonly agent: HttpAgent };
    if (socket === null || agent !== this.agent) return true;
    const kept = this.#keptOf(socket);
    const doubtful = kept.hadBody && !repeatsId;
    kept.hadBody ||= hasBody;
    if (doubtful) this.unasked();
    return !doubtful;
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
    Object.assign(agent, {
      keepSocketAlive: (socket: Socket): boolean => {
        // Bytes after the answer that have not been read yet.
        if (socket.readableLength > 0) this.unasked();
        const kept = this.#keptOf(socket);
        if (kept.hadBody && this.#repeatsIds !== true) return false;
        if (this.#distrusts() || !keepSocketAlive.call(agent, socket)) return false;
        kept.bytesRead = socket.bytesRead;
        kept.idleSinceMs = this.#nowMs();
        return true;
      },
      reuseSocket: (socket: Socket, request: ClientRequest): void => {
        this.#keptOf(socket).idleSinceMs = undefined;
        reuseSocket.call(agent, socket, request);
      },
    });
  }

  /** Watches the connection from its first answer on: adding and removing listeners at each request would cost more. */
  #keptOf(socket: Socket): Kept {
    const known = this.#kept.get(socket);
    if (known !== undefined) return known;
    const kept: Kept = { idleSinceMs: undefined, bytesRead: 0, hadBody: false };
    this.#kept.set(socket, kept);
    // Newer versions of Node close the connection at the first byte without reporting it; `bytesRead` then reveals it.
    const look = (): void => {
      if (kept.idleSinceMs === undefined || socket.bytesRead === kept.bytesRead) return;
      kept.idleSinceMs = undefined;
      this.unasked();
    };
    socket.on('data', look).on('close', look);
    return kept;
  }

  #distrusts(): boolean {
    return this.#nowMs() < this.#distrustUntilMs;
  }
}
