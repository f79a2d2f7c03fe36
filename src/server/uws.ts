// The listener on uWebSockets.js.
import { performance } from 'node:perf_hooks';
import { Call } from './call.ts';
import { HeaderCollector } from './header-collector.ts';
import { IDLE_SECONDS, listenError, listenerOf, openListenerState } from './listener.ts';
import type { ListenerState, Listener, ListenerOptions, TlsFiles } from './listener.ts';
import { freePortOf } from './port-check.ts';
import { readTlsFiles } from './tls-files.ts';
import { describeUws, loadUws } from './uws-build.ts';
import type { HttpRequest, HttpResponse, Library, UwsApp, us_listen_socket } from './uws-build.ts';
import { setTimers } from './uws-timers.ts';
import type { StreamWriter, WriterEvents } from './streamed-answer.ts';
import { ChunkedUwsStream, SizedUwsStream } from './uws-stream.ts';
import { statusLine } from './response-message.ts';
import type { ResponseMessage, StreamHead } from './response-message.ts';

/** How often the library's timer for a body that is streamed is begun anew. */
const REARM_MS = 4_000;

type Listen = (host: string, port: number, options: number, done: (socket: us_listen_socket | false) => void) => void;

/** Throws a `ListenError` when it cannot listen. */
export async function startUwsListener(options: ListenerOptions): Promise<Listener> {
  const build = loadUws();
  const { library } = build;
  const shared = openListenerState(options);
  const app = openApp(library, options.tls);
  const { idleSeconds = IDLE_SECONDS } = options;
  setTimers(build, app, idleSeconds);
  const wire = wireOf(build.endsHeads, idleSeconds);
  const collector = new HeaderCollector(options.gateway.headersWanted);
  app.any('/*', (res, req) => {
    const call = new UwsCall(shared, wire, res);
    // First of all: without it, a throw or a missing answer ends the process from inside the library.
    res.onAborted(() => call.gone());
    call.start(req, collector);
  });
  app.filter((_res, change) => void (shared.connections += change));
  const { host, port, exclusive = true } = options;
  const socket = await listen(app, host, port, exclusive ? library.LIBUS_LISTEN_EXCLUSIVE_PORT : 0);
  const address = { host, port: library.us_socket_local_port(socket) };
  let accepting = true;
  const stopAccepting = (): void => {
    // The socket is freed by the first call.
    if (accepting) library.us_listen_socket_close(socket);
    accepting = false;
  };
  return listenerOf(shared, describeUws(build), address, stopAccepting, () => {
    stopAccepting();
    app.close();
  });
}

function openApp(library: Library, tls: TlsFiles | undefined): UwsApp {
  if (tls === undefined) return library.App();
  readTlsFiles(tls);
  return library.SSLApp({ cert_file_name: tls.certFile, key_file_name: tls.keyFile });
}

async function listen(app: UwsApp, host: string, port: number, options: number): Promise<us_listen_socket> {
  const bind = app.listen.bind(app) as unknown as Listen;
  const socket = await new Promise<us_listen_socket | false>((resolve) => bind(host, port, options, resolve));
  if (socket !== false) return socket;
  app.close();
  // The library only says that it failed; Node's own attempt says why.
  await freePortOf(host, port);
  throw listenError(host, port, undefined);
}

/** How answers are written; the same for all of a listener. */
interface Wire {
  /** What follows the request id in an answer that keeps its connection, and in one that does not. */
  readonly kept: string;
  readonly closed: string;
  readonly endsHeads: boolean;
}

function wireOf(endsHeads: boolean, idleSeconds: number): Wire {
  const closed = '\r\nCache-Control: no-store';
  const kept = `${closed}\r\nConnection: keep-alive\r\nKeep-Alive: timeout=${idleSeconds}`;
  return { endsHeads, closed, kept };
}

class UwsCall extends Call {
  readonly #wire: Wire;
  readonly #res: HttpResponse;
  /** The library is calling us, and has corked the connection. */
  #corked = true;
  /** We have to write `Connection: close`: to an answer that closes the library adds it, except where the request has said it. */
  #closeUnsaid = false;
  /** When the library's timer for a body was last begun. */
  #armedAtMs = 0;

  constructor(shared: ListenerState, wire: Wire, res: HttpResponse) {
    super(shared);
    this.#wire = wire;
    this.#res = res;
  }

  start(req: HttpRequest, collector: HeaderCollector): void {
    try {
      this.#open(req, collector);
    } catch (error) {
      this.broke('start', error);
    }
    this.#corked = false;
  }

  #open(req: HttpRequest, collector: HeaderCollector): void {
    const { framing } = collector;
    collector.start();
    req.forEach(collector.field);
    if (collector.wantsAddress) collector.remoteAddress(Buffer.from(this.#res.getRemoteAddressAsText()).toString('latin1'));
    const method = req.getCaseSensitiveMethod();
    // Without a query the library answers undefined, whatever its types say.
    const query = (req.getQuery() as string | undefined) ?? '';
    const head = { method, path: req.getUrl(), query, headers: collector.headers };
    const fault = framing.judge(method);
    // The library takes any value of five letters for `close`.
    if (framing.connection.length === 5) this.#closeUnsaid = framing.closes = true;
    if (fault !== undefined) {
      // What follows need not be a body, so no end is awaited.
      this.refuse(head, undefined, fault);
      return;
    }
    this.begin(head, framing);
    // `onData` only if the body's end is awaited: with it the library stops the connection's timer there, also after an answer.
    if (!this.awaitsBody) this.passOverBody();
    else if (framing.chunked || framing.bodyBytes > 0) this.#res.onData((chunk, isLast) => this.#data(chunk, isLast));
  }

  #data(chunk: ArrayBuffer, isLast: boolean): void {
    this.#corked = true;
    try {
      // After the last piece the library has no timer running.
      if (this.bodyFlows && !isLast) this.#rearm();
      this.receive(new Uint8Array(chunk), true);
      if (isLast) this.bodyComplete();
    } catch (error) {
      this.broke('body', error);
    }
    this.#corked = false;
  }

  /** The library cuts off a caller who sends less than 16 KB/s, however long the body; resuming begins its ten seconds anew. */
  #rearm(): void {
    const nowMs = performance.now();
    if (nowMs - this.#armedAtMs < REARM_MS) return;
    this.#armedAtMs = nowMs;
    this.#res.pause();
    this.#res.resume();
  }

  protected override write(answer: ResponseMessage, closes: boolean): void {
    const end = closes || this.shared.draining;
    if (this.#corked) this.#put(answer, end);
    else this.#res.cork(() => this.#put(answer, end));
  }

  #put(answer: ResponseMessage, closes: boolean): void {
    const res = this.#res;
    this.#putHead(answer, closes);
    if (closes && this.#closeUnsaid) res.writeHeader('Connection', 'close');
    if (this.head.method === 'HEAD' || answer.contentType === undefined) this.#endEmpty(answer, closes);
    else res.end(answer.body, closes);
  }

  #putHead(answer: Omit<ResponseMessage, 'body'>, closes: boolean): void {
    const res = this.#res;
    if (answer.status !== 200) res.writeStatus(statusLine(answer.status));
    // One call into the library instead of one for each field, which saves a microsecond: it writes a value as it is, line breaks included.
    let fields = answer.requestId + (closes ? this.#wire.closed : this.#wire.kept);
    if (answer.contentType !== undefined) fields += `\r\nContent-Type: ${answer.contentType}`;
    for (const [name, value] of answer.headers) fields += `\r\n${name}: ${value}`;
    res.writeHeader('X-Request-Id', fields);
  }

  protected override openStream(head: StreamHead, closes: boolean, events: WriterEvents): StreamWriter {
    const { bytes } = head;
    const writeHead = (andEnds: boolean): void => {
      this.#putHead(head, closes);
      if (closes && !andEnds) this.#res.writeHeader('Connection', 'close');
    };
    // Where the request had asked for the end, the library sees to it; behind an announced length only there.
    const asked = this.#closeUnsaid;
    if (bytes !== undefined && (!closes || asked)) return new SizedUwsStream(this.#res, events, writeHead, bytes);
    return new ChunkedUwsStream(this.#res, events, writeHead, closes && !asked);
  }

  override pauseBody(): void {
    this.#res.pause();
  }

  override resumeBody(): void {
    this.#armedAtMs = performance.now();
    this.#res.resume();
  }

  /**
   * In the older build `endWithoutBody` takes no arguments that work, in the newer one none that leaves the length out: an
   * answer that closes may have to say `Content-Length: 0`.
   */
  #endEmpty(answer: ResponseMessage, closes: boolean): void {
    const res = this.#res;
    const bytes = answer.contentType === undefined ? undefined : Buffer.byteLength(answer.body);
    if (closes) {
      if (bytes !== undefined && this.#wire.endsHeads) res.endWithoutBody(bytes, true);
      else res.end('', true);
      return;
    }
    if (bytes !== undefined) res.writeHeader('Content-Length', String(bytes));
    res.endWithoutBody();
  }

  protected override cut(): void {
    this.#res.close();
  }
}
