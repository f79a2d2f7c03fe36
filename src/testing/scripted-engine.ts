// A native-protocol engine that misbehaves on command and records its requests.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { act } from './scripted-behaviours.ts';
import type { Behaviour, RightAnswer, ScriptedRequest } from './scripted-behaviours.ts';

// Re-exported, so that a test needs only one import.
export { answer, CANARY, scriptedTranslation, slow, status } from './scripted-behaviours.ts';
export type { Behaviour, NamedBehaviour, RightAnswer, ScriptedRequest } from './scripted-behaviours.ts';

export interface ScriptedEngine {
  readonly url: string;
  readonly port: number;
  /** Requests in order of arrival. */
  readonly requests: readonly ScriptedRequest[];
  /** Number of connections ever opened. */
  readonly connections: number;
  readonly openConnections: number;
  /** Sets the behaviours of the next requests, one each, in order; after them the default applies. */
  behave(...behaviours: readonly Behaviour[]): void;
  /** Sets the default behaviour, initially `ok`. */
  always(behaviour: Behaviour): void;
  /** Resets to `ok`, with an empty queue and no recorded requests. */
  forget(): void;
  /** Makes the currently open connections reset at the next byte received, as after a restart behind a silent middlebox. */
  staleConnections(): void;
  /** Resolves when the condition holds; it is checked after every event at the engine. */
  until(condition: () => boolean): Promise<void>;
  close(): Promise<void>;
}

export interface ScriptedEngineOptions {
  /** For an engine that comes back on the same port. */
  readonly port?: number;
  /** The body of correct answers, for protocols other than `native`. */
  readonly right?: RightAnswer;
  /** `false` for long runs, which cannot keep every text in memory: `requests` then stays empty. */
  readonly remembers?: boolean;
}

export async function startScriptedEngine(options: ScriptedEngineOptions = {}): Promise<ScriptedEngine> {
  const engine = new RunningEngine(options);
  await engine.listen(options.port ?? 0);
  return engine;
}

const NO_TEXTS = '{"text":[]}';

class RunningEngine implements ScriptedEngine {
  readonly requests: ScriptedRequest[] = [];
  readonly #sockets = new Map<Socket, number>();
  readonly #waiters = new Set<() => void>();
  readonly #server = createServer((request, response) => void this.#take(request, response));
  #queue: Behaviour[] = [];
  #standing: Behaviour = 'ok';
  readonly #options: ScriptedEngineOptions;
  connections = 0;

  constructor(options: ScriptedEngineOptions) {
    this.#options = options;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  get openConnections(): number {
    return this.#sockets.size;
  }

  async listen(port: number): Promise<void> {
    this.#server.keepAliveTimeout = 0;
    this.#server.on('connection', (socket: Socket) => {
      this.#sockets.set(socket, ++this.connections);
      socket.on('error', () => undefined);
      socket.once('close', () => {
        this.#sockets.delete(socket);
        this.#changed();
      });
      this.#changed();
    });
    this.#server.listen(port, '127.0.0.1');
    await once(this.#server, 'listening');
  }

  behave(...behaviours: readonly Behaviour[]): void {
    this.#queue.push(...behaviours);
  }

  always(behaviour: Behaviour): void {
    this.#standing = behaviour;
  }

  forget(): void {
    this.#queue = [];
    this.#standing = 'ok';
    this.requests.length = 0;
  }

  staleConnections(): void {
    for (const socket of this.#sockets.keys()) {
      socket.removeAllListeners('data');
      socket.on('data', () => socket.resetAndDestroy());
    }
  }

  until(condition: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      const look = (): void => {
        if (!condition()) return;
        this.#waiters.delete(look);
        resolve();
      };
      this.#waiters.add(look);
      look();
    });
  }

  async close(): Promise<void> {
    const closed = this.#server.listening ? once(this.#server, 'close') : undefined;
    this.#server.close();
    for (const socket of this.#sockets.keys()) socket.destroy();
    await closed;
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { socket } = request;
    const connection = this.#sockets.get(socket) ?? 0;
    let body: string;
    try {
      body = Buffer.concat((await request.toArray()) as Uint8Array[]).toString('utf8');
    } catch {
      // The caller disconnected before it had sent everything.
      return;
    }
    // A gateway that has just been started tries its engines with it: part of no test.
    if (body === NO_TEXTS) return void response.writeHead(200, { 'content-type': 'application/json' }).end('{"translations":[]}');
    const { method = '', url: path = '', headers } = request;
    const seen: ScriptedRequest = { method, path, headers, body, connection, aborted: false };
    response.once('close', () => {
      seen.aborted = !response.writableFinished;
      this.#changed();
    });
    if (this.#options.remembers !== false) this.requests.push(seen);
    const behaviour = this.#queue.shift() ?? this.#standing;
    act(behaviour, seen, response, socket, this.#options.right);
    this.#changed();
  }

  #changed(): void {
    for (const look of this.#waiters) look();
  }
}
