// The listener on node:http: strict parsing, HTTP/1.0, the reference in tests of the other.
import { createServer as createHttpServer } from 'node:http';
import type { IncomingMessage, Server, ServerOptions, ServerResponse } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { Server as HttpsServer } from 'node:https';
import { Server as NetServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { TLSSocket } from 'node:tls';
import { HeaderFields, compose, fieldsOf, serialise } from './messages.ts';
import { HANDSHAKE_MS, HEAD_BYTES_MAX, IDLE_SECONDS, listenError, listenerOf, openListenerState } from './listener.ts';
import type { Listener, ListenerOptions, ListenerState, TlsPair } from './listener.ts';
import { pairOf, renewal, samePair } from './tls-files.ts';
import { NO_CALLER } from '../core/exchange.ts';
import type { NodeMessages, Sink } from '../core/exchange.ts';
import { refuse } from '../core/problem.ts';
import { Call, NO_HEAD } from './call.ts';
import { IncomingBody } from './streamed-bodies.ts';
import type { ResponseMessage, StreamHead } from './messages.ts';

const SERVER_OPTIONS: ServerOptions = {
  maxHeaderSize: HEAD_BYTES_MAX,
  headersTimeout: 10_000,
  // The chain or the call limits a body's time: a long one may take longer than any fixed time.
  requestTimeout: 0,
  connectionsCheckingInterval: 1_000,
  // The framing guard refuses a missing Host with a problem document.
  requireHostHeader: false,
};

/** Of the accept queue, if the system allows it. When it overflows, callers wait for seconds. */
const BACKLOG_MAX = 4096;

/** Name and version of this listener's library. */
const NODE_LIBRARY = `node:http ${process.versions.node}`;

/** Throws a `ListenError` if it cannot listen. */
export async function startNodeListener(options: ListenerOptions): Promise<Listener> {
  const shared = openListenerState(options);
  const fields = new HeaderFields(options.gateway.headersRead);
  const connections = new WeakMap<Duplex, NodeConnection>();
  let inUse = options.tls && pairOf(options.tls);
  const server = openServer(options, inUse);
  const connectionOf = (socket: Duplex): NodeConnection => {
    let connection = connections.get(socket);
    if (connection === undefined) connections.set(socket, (connection = new NodeConnection(shared, socket, fields)));
    return connection;
  };
  const handle = (req: IncomingMessage, res: ServerResponse): void => connectionOf(req.socket).request(req, res);
  server.on('request', handle);
  // An unknown `Expect` is ignored: the request is answered like any other.
  server.on('checkExpectation', handle);
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Duplex) => connectionOf(socket).failed(error));
  server.on('connect', (_req: IncomingMessage, socket: Duplex) => connectionOf(socket).refuseRaw('CONNECT: this is not a proxy.'));
  // With those in a TLS handshake, of which the library's `closeAllConnections` knows nothing.
  const sockets = new Set<Duplex>();
  server.on('connection', (socket: Duplex) => {
    shared.connections = sockets.add(socket).size;
    socket.once('close', () => {
      sockets.delete(socket);
      shared.connections = sockets.size;
    });
  });
  const { host, port, exclusive = true } = options;
  await listen(server, host, port, exclusive);
  const address = { host, port: (server.address() as AddressInfo).port };
  return listenerOf(shared, NODE_LIBRARY, address, {
    // That of `http.Server` also cuts idle connections, whose next request may be on its way.
    stopAccepting: () => void NetServer.prototype.close.call(server),
    renewTls(files) {
      const pair = pairOf(files);
      const changed = inUse === undefined || !samePair(pair, inUse);
      if (changed) (server as HttpsServer).setSecureContext((inUse = pair));
      return renewal(changed, pair);
    },
    cut() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  });
}

function openServer({ idleSeconds = IDLE_SECONDS }: ListenerOptions, tls: TlsPair | undefined): Server {
  // Announced in every answer that keeps its connection; the library itself waits a second longer.
  const options = { ...SERVER_OPTIONS, keepAliveTimeout: idleSeconds * 1000 };
  const server = tls === undefined ? createHttpServer(options) : createHttpsServer({ ...options, ...tls, handshakeTimeout: HANDSHAKE_MS });
  // The limit is in bytes; with one on their number, Node would silently hide the excess fields.
  server.maxHeadersCount = 0;
  return server;
}

function listen(server: Server, host: string, port: number, exclusive: boolean): Promise<void> {
  return new Promise((resolve, reject) => {
    const failed = (error: NodeJS.ErrnoException): void => reject(listenError(host, port, error.code));
    server.once('error', failed);
    server.listen({ host, port, exclusive: true, reusePort: !exclusive, backlog: BACKLOG_MAX }, () => {
      server.off('error', failed);
      resolve();
    });
  });
}

/** Open requests per connection: one is handled, the others wait. Beyond it, it is cut. */
const PIPELINE_MAX = 64;
/** How long a refused connection continues to read, so that its caller can read the refusal. */
const LINGER_MS = 1_000;

/** A pipelined request that waits for the one before it. */
interface WaitingRequest {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  /** What is wrong with its body, if the parser failed there. */
  fault: string | undefined;
}

class NodeConnection {
  readonly #shared: ListenerState;
  readonly #socket: Duplex;
  readonly #fields: HeaderFields;
  /** The current call, or the last one. */
  #call: NodeCall | undefined = undefined;
  #waiting: WaitingRequest[] = [];
  /** Nothing that still arrives is handled. */
  #condemned = false;
  #refused = false;

  constructor(shared: ListenerState, socket: Duplex, fields: HeaderFields) {
    this.#shared = shared;
    this.#socket = socket;
    this.#fields = fields;
    socket.once('close', () => {
      this.#waiting = [];
      this.#call?.gone();
    });
  }

  /**
   * Pipelined requests start when the previous answer has been handed over: one that waits reserves
   * nothing, calls no engine, and is not charged if its caller leaves.
   */
  request(req: IncomingMessage, res: ServerResponse): void {
    if (this.#condemned) return;
    // Node assigns the connection to a response when it is its turn.
    if (res.socket !== null) return this.#begin(req, res);
    if (this.#waiting.length + 1 >= PIPELINE_MAX) {
      this.#socket.destroy();
      return;
    }
    this.#waiting.push({ req, res, fault: undefined });
    res.once('socket', () => process.nextTick(() => this.#next(res)));
  }

  #begin(req: IncomingMessage, res: ServerResponse): void {
    const call = (this.#call = new NodeCall(this.#shared, this.#endsNow, req, res));
    call.start(this.#fields);
    if (!call.closes) return;
    this.#condemned = true;
    this.#waiting = [];
  }

  /** Starts the first waiting request, unless it was discarded. */
  #next(res: ServerResponse): void {
    if (this.#waiting[0]?.res !== res) {
      this.#socket.destroy();
      return;
    }
    const { req, fault } = this.#waiting.shift()!;
    this.#begin(req, res);
    if (fault !== undefined) this.#bodyFailed(this.#call!, fault);
  }

  readonly #endsNow = (): boolean => (this.#condemned || this.#shared.draining) && this.#waiting.length === 0;

  /** The parser failed, the caller was too slow, or the connection broke. */
  failed(error: NodeJS.ErrnoException): void {
    const detail = detailOf(error.code);
    if (detail === undefined || !this.#socket.writable) {
      if (!this.#refused) this.#socket.destroy();
      return;
    }
    this.#condemned = true;
    const last = this.#waiting.at(-1);
    if (last !== undefined) {
      if (!last.req.complete) last.fault = detail;
    } else if (this.#call?.bodyPending === true) this.#bodyFailed(this.#call, detail);
    else if (this.#call?.isOver !== false) this.refuseRaw(detail);
  }

  #bodyFailed(call: NodeCall, detail: string): void {
    // An answer sent before the end of its body cannot be followed by a second one.
    if (call.isOpen) call.fault(detail);
    else this.#socket.destroy();
  }

  /** Answers on the raw socket, because there is no request that the library knows of. */
  refuseRaw(detail: string): void {
    if (this.#refused) return;
    this.#condemned = true;
    this.#refused = true;
    if (silent(this.#socket)) {
      this.#socket.destroy();
      return;
    }
    this.#socket.on('error', () => this.#socket.destroy());
    const send: Sink['send'] = (x, outcome) => {
      this.#socket.end(serialise(compose(outcome, x, this.#shared.problems)));
      const linger = setTimeout(() => this.#socket.destroy(), LINGER_MS);
      this.#socket.once('close', () => clearTimeout(linger));
      return 'written';
    };
    this.#shared.gateway.refuse(NO_HEAD, { ...NO_CALLER, send }, refuse('validation_error', detail));
  }
}

/** Without a single byte received, the connection is closed without an answer. */
function silent(socket: Duplex): boolean {
  return 'bytesRead' in socket && socket.bytesRead === 0;
}

/** The problem's detail; `undefined` for connection errors, after which no answer can be sent. */
function detailOf(code = ''): string | undefined {
  if (code === 'HPE_HEADER_OVERFLOW') return `headers: request line and fields together may be at most ${HEAD_BYTES_MAX} bytes long.`;
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return 'request: it did not arrive in time; send it faster or send less.';
  return code.startsWith('HPE_') ? 'request: it is not well-formed HTTP/1.1.' : undefined;
}

/** The accepted versions; Node's parser also accepts 0.9 and 2.0. */
const SPOKEN: ReadonlySet<string> = new Set(['1.0', '1.1']);
const BAD_VERSION = 'request: only HTTP/1.1 and HTTP/1.0 are supported.';

/**
 * Cuts off a caller who stops reading: Node's own timers only watch senders. It runs twice, because
 * the system's buffers absorb data the first time: the limit is 10 s.
 */
const UNREAD_MS = 5_000;
/** How long the rest of a body may take after an answer that did not wait for it. */
const REST_MS = 10_000;
/** Longer answers are passed as bytes: Node keeps a three times larger copy of a string. */
const STRING_MAX = 65_536;

class NodeCall extends Call {
  /** Whether the connection closes with the answer being written now. */
  readonly #endsNow: () => boolean;
  readonly #req: IncomingMessage;
  readonly #res: ServerResponse;

  constructor(shared: ListenerState, endsNow: () => boolean, req: IncomingMessage, res: ServerResponse) {
    super(shared);
    this.#endsNow = endsNow;
    this.#req = req;
    this.#res = res;
  }

  start(fields: HeaderFields): void {
    try {
      this.#open(fields);
    } catch (error) {
      this.broke('start', error);
    }
  }

  #open(fields: HeaderFields): void {
    const req = this.#req;
    // Clears a timeout that an earlier answer on this connection may have left.
    req.socket.setTimeout(0);
    fields.start();
    for (let i = 0; i + 1 < req.rawHeaders.length; i += 2) fields.field(req.rawHeaders[i]!.toLowerCase(), req.rawHeaders[i + 1]!);
    if (fields.wantsAddress) fields.remoteAddress(this.peerAddress);
    const method = req.method ?? '';
    const head = { method, ...splitTarget(req.url ?? ''), headers: fields.headers };
    const fault = SPOKEN.has(req.httpVersion) ? fields.judge(method, req.httpVersionMinor === 0) : BAD_VERSION;
    req.on('end', () => this.#guarded(() => this.bodyComplete()));
    // A broken connection also emits `close`, which is handled.
    req.on('error', () => undefined);
    if (fault === undefined) this.begin(head, fields);
    else this.refuse(head, fields, fault);
    // Not before: it sets off the flow of a body that a step may want to take at its own pace.
    req.on('data', (chunk: Buffer) => this.#guarded(() => this.receive(chunk, false)));
  }

  protected override get peerAddress(): string {
    return this.#req.socket.remoteAddress ?? '';
  }

  /** The parser failed in the middle of the body. */
  fault(detail: string): void {
    this.#guarded(() => this.bodyBroken(detail));
  }

  #guarded(action: () => void): void {
    try {
      action();
    } catch (error) {
      this.broke('body', error);
    }
  }

  protected override write(answer: ResponseMessage, closes: boolean): boolean {
    const { socket } = this.#req;
    // The caller has half-closed or reset the connection, and `close` has not been emitted yet.
    if (!socket.writable) return false;
    // Until the answer has been sent; then Node sets its own timer, or the next call resets it.
    socket.setTimeout(UNREAD_MS);
    const body = this.#putHead(answer, closes || this.#endsNow());
    if (body === undefined) this.#res.end();
    else this.#res.end(body);
    if (this.bodyPending) this.#boundRest();
    return this.#taken;
  }

  /** Returns the body to write next. */
  #putHead(answer: ResponseMessage, ends: boolean): string | Uint8Array | undefined {
    const fields = fieldsOf(answer).flat();
    const body = typeof answer.body === 'string' && answer.body.length > STRING_MAX ? Buffer.from(answer.body) : answer.body;
    if (answer.contentType !== undefined) fields.push('Content-Length', String(Buffer.byteLength(body)));
    if (ends) fields.push('Connection', 'close');
    this.#res.writeHead(answer.status, fields);
    return answer.contentType === undefined ? undefined : body;
  }

  /** Writes all but the answer's end, at which Node would close while the body is arriving. */
  protected override writeBeforeBody(answer: ResponseMessage): boolean {
    if (!this.#req.socket.writable) return false;
    this.#req.resume();
    const body = this.#putHead(answer, true);
    if (body === undefined) this.#res.flushHeaders();
    else this.#res.write(body);
    return this.#taken;
  }

  /** Whether the system took the data. A failure is known at once after the caller's reset. */
  get #taken(): boolean {
    return this.#req.socket.errored === null;
  }

  protected override get dropMs(): number {
    return REST_MS;
  }

  protected override endBehindBody(): void {
    this.#req.socket.setTimeout(UNREAD_MS);
    this.#res.end();
  }

  protected override openStream(head: StreamHead, closes: boolean): ServerResponse {
    const fields = fieldsOf(head).flat();
    if (head.bytes !== undefined) fields.push('Content-Length', String(head.bytes));
    if (closes || this.#endsNow()) fields.push('Connection', 'close');
    // The stream has its own timeout for slow readers.
    this.#req.socket.setTimeout(0);
    this.#res.writeHead(head.status, fields);
    return this.#res;
  }

  /**
   * To HTTP/1.0, an answer without a length would look complete. With TLS, the missing close_notify
   * reveals it.
   */
  protected override cutStream(): void {
    const { socket } = this.#req;
    if (socket instanceof TLSSocket) socket.destroy();
    else socket.resetAndDestroy();
  }

  protected override openBody(bytes: number | undefined): IncomingBody {
    return new IncomingBody(this.#req, bytes, this.shared.gateway.requestMs, () => this.bodySilent());
  }

  get messages(): NodeMessages {
    return { request: this.#req, response: this.#res };
  }

  #boundRest(): void {
    const timer = setTimeout(() => this.cut(), REST_MS);
    this.#req.once('close', () => clearTimeout(timer));
    this.#req.once('end', () => clearTimeout(timer));
  }

  protected override cut(): void {
    this.#req.socket.destroy();
  }
}

/** Path and query of a request target, which may be an absolute URL (RFC 9112 section 3.2.2). */
function splitTarget(target: string): { path: string; query: string } {
  const origin = /^https?:\/\/[^/?]*/i.exec(target)?.[0] ?? '';
  const relative = target.slice(origin.length);
  const mark = relative.indexOf('?');
  const path = mark === -1 ? relative : relative.slice(0, mark);
  return { path: path === '' ? '/' : path, query: mark === -1 ? '' : relative.slice(mark + 1) };
}
