// The listener on uWebSockets.js: port, TLS, timers, and how a call is read and answered.
import { Writable } from 'node:stream';
import { HeaderFields, statusLine } from './messages.ts';
import { freePortOf, IDLE_SECONDS, ListenError, listenError, listenerOf, openListenerState } from './listener.ts';
import type { Listener, ListenerOptions, ListenerState, TlsFiles, TlsPair, TlsRenewal } from './listener.ts';
import { isOnDisk, pairOf, renewal, samePair, withTlsCopies } from './tls-files.ts';
import { describeUws, loadUws, setTimers } from './uws-build.ts';
import type { HttpRequest, HttpResponse, Library, UwsApp, us_listen_socket } from './uws-build.ts';
import { Call } from './call.ts';
import type { ResponseMessage, StreamHead } from './messages.ts';

type Listen = (host: string, port: number, options: number, done: (socket: us_listen_socket | false) => void) => void;

/** Throws a `ListenError` if it cannot listen. */
export async function startUwsListener(options: ListenerOptions): Promise<Listener> {
  if (options.gateway.router.routes.some(({ streamsBody }) => streamsBody === true)) {
    throw new ListenError('cannot_listen', 'uWebSockets.js cannot stream bodies: set "listener" to auto or node');
  }
  const build = loadUws();
  const { library } = build;
  const shared = openListenerState(options);
  const { idleSeconds = IDLE_SECONDS, host, port, exclusive = true } = options;
  const wire = wireOf(build.endsHeads, idleSeconds);
  const fields = new HeaderFields(options.gateway.headersRead);
  const open = (tls: TlsFiles | undefined): UwsApp => {
    const app = tls === undefined ? library.App() : openTlsApp(library, tls);
    setTimers(build, app, idleSeconds);
    app.any('/*', uwsHandler(shared, wire, fields));
    app.filter((_res, change) => void (shared.connections += change));
    return app;
  };
  const apps = new TlsApps(options.tls, open);
  const socket = await listen(apps.first, host, port, exclusive ? library.LIBUS_LISTEN_EXCLUSIVE_PORT : 0);
  const address = { host, port: library.us_socket_local_port(socket) };
  let accepting = true;
  const stopAccepting = (): void => {
    // The first call frees the socket.
    if (accepting) library.us_listen_socket_close(socket);
    accepting = false;
  };
  return listenerOf(shared, describeUws(build), address, {
    stopAccepting,
    renewTls: (files) => apps.renew(files),
    cut() {
      stopAccepting();
      apps.close();
    },
  });
}

/**
 * An app's certificate cannot be changed, and a second app on the port would lose waiting
 * connections: the first keeps the port, and passes them to the app with the latest one.
 */
class TlsApps {
  readonly first: UwsApp;
  readonly #open: (tls: TlsFiles) => UwsApp;
  readonly #all: UwsApp[];
  #inUse: TlsPair | undefined;

  constructor(tls: TlsFiles | undefined, open: (tls: TlsFiles | undefined) => UwsApp) {
    this.#open = open;
    const files = tls && { ...tls, contents: pairOf(tls) };
    this.#inUse = files?.contents;
    this.first = open(files);
    this.#all = [this.first];
  }

  renew(files: TlsFiles): TlsRenewal {
    const pair = pairOf(files);
    if (this.#inUse !== undefined && samePair(pair, this.#inUse)) return renewal(false, pair);
    const { first } = this;
    if (first.addChildAppDescriptor === undefined || first.removeChildAppDescriptor === undefined) {
      throw new ListenError('cannot_listen', 'TLS: this build of uWebSockets.js takes a renewed certificate only at a restart');
    }
    const app = this.#open({ ...files, contents: pair });
    const before = this.#all.at(-1)!;
    first.addChildAppDescriptor(app.getDescriptor!());
    if (before !== first) first.removeChildAppDescriptor(before.getDescriptor!());
    this.#all.push(app);
    this.#inUse = pair;
    return renewal(true, pair);
  }

  close(): void {
    for (const app of this.#all) app.close();
  }
}

/** The library reads the files itself: copies, unless these were right before and after that. */
function openTlsApp(library: Library, tls: TlsFiles): UwsApp {
  const pair = pairOf(tls);
  const open = (certFile: string, keyFile: string): UwsApp | undefined => {
    try {
      return library.SSLApp({ cert_file_name: certFile, key_file_name: keyFile });
    } catch {
      return undefined;
    }
  };
  if (isOnDisk(pair, tls)) {
    const app = open(tls.certFile, tls.keyFile);
    if (app !== undefined && isOnDisk(pair, tls)) return app;
    app?.close();
  }
  const app = withTlsCopies(pair, open);
  if (app !== undefined) return app;
  throw new ListenError('cannot_listen', `TLS: uWebSockets.js does not accept ${tls.certFile} and ${tls.keyFile}`);
}

async function listen(app: UwsApp, host: string, port: number, options: number): Promise<us_listen_socket> {
  const bind = app.listen.bind(app) as unknown as Listen;
  const socket = await new Promise<us_listen_socket | false>((resolve) => bind(host, port, options, resolve));
  if (socket !== false) return socket;
  app.close();
  // The library only reports that it failed; Node's own attempt reveals why.
  await freePortOf(host, port);
  throw listenError(host, port, undefined);
}

/** Limit for a body after its answer; the library ends one that arrives too slowly earlier. */
const DROP_MS = 30_000;

/** How answers are written; the same for all calls of a listener. */
interface Wire {
  /** What follows the request id in an answer that keeps its connection, and that closes it. */
  readonly persistent: string;
  readonly closed: string;
  readonly revalidated: Pick<Wire, 'persistent' | 'closed'>;
  readonly endsHeads: boolean;
}

function wireOf(endsHeads: boolean, idleSeconds: number): Wire {
  const [stays, stored] = [`\r\nConnection: keep-alive\r\nKeep-Alive: timeout=${idleSeconds}`, '\r\nCache-Control: no-cache'];
  const closed = '\r\nCache-Control: no-store';
  return { endsHeads, closed, persistent: closed + stays, revalidated: { closed: stored, persistent: stored + stays } };
}

/** Handles every request of an app. `fields` is reused for all of them. */
function uwsHandler(shared: ListenerState, wire: Wire, fields: HeaderFields): (res: HttpResponse, req: HttpRequest) => void {
  return (res, req) => {
    const call = new UwsCall(shared, wire, res);
    // First: without it, a throw or a missing answer ends the process from inside the library.
    res.onAborted(() => call.gone());
    call.start(req, fields);
  };
}

class UwsCall extends Call {
  readonly #wire: Wire;
  readonly #res: HttpResponse;
  /** Set while the library is calling us and has corked the connection. */
  #corked = true;
  /** We write `Connection: close`: the library adds it unless the request already had it. */
  #closeUnsaid = false;
  /** Whether the library delivers the body to us. */
  #readsBody = false;

  constructor(shared: ListenerState, wire: Wire, res: HttpResponse) {
    super(shared);
    this.#wire = wire;
    this.#res = res;
  }

  start(req: HttpRequest, fields: HeaderFields): void {
    try {
      fields.start();
      req.forEach(fields.field);
      if (fields.wantsAddress) fields.remoteAddress(this.peerAddress);
      const method = req.getCaseSensitiveMethod();
      // Without a query the library returns undefined, contrary to its types.
      const query = (req.getQuery() as string | undefined) ?? '';
      const head = { method, path: req.getUrl(), query, headers: fields.headers };
      const fault = fields.judge(method);
      // The library treats any value of five letters as `close`.
      if (fields.connection.length === 5) this.#closeUnsaid = fields.closes = true;
      // What follows broken framing need not be a body, so its end is not awaited.
      if (fault !== undefined) this.refuse(head, undefined, fault);
      // Only if the end of the body is awaited: `onData` stops the library's timer there, even
      // after an answer.
      else if (!this.begin(head, fields)) this.passOverBody();
      else if (fields.chunked || fields.bodyBytes > 0) {
        this.#readsBody = true;
        this.#res.onData(this.#data);
      }
    } catch (error) {
      this.broke('start', error);
    }
    this.#corked = false;
  }

  protected override get peerAddress(): string {
    return Buffer.from(this.#res.getRemoteAddressAsText()).toString('latin1');
  }

  readonly #data = (chunk: ArrayBuffer, isLast: boolean): void => {
    this.#corked = true;
    try {
      this.receive(new Uint8Array(chunk), true);
      if (isLast) this.bodyComplete();
    } catch (error) {
      this.broke('body', error);
    }
    this.#corked = false;
  };

  protected override write(answer: ResponseMessage, closes: boolean): true {
    const end = closes || this.shared.draining;
    if (this.#corked) this.#put(answer, end);
    else this.#res.cork(() => this.#put(answer, end));
    return true;
  }

  #put(answer: ResponseMessage, closes: boolean): void {
    const res = this.#res;
    this.#putHead(answer, closes);
    if (closes && this.#closeUnsaid) res.writeHeader('Connection', 'close');
    if (this.head.method === 'HEAD' || answer.contentType === undefined) this.#endEmpty(answer, closes);
    else res.end(answer.body, closes);
  }

  /** After a body's last chunk the library has no timer: the connection would stay open. */
  protected override get bodyBindsConnection(): boolean {
    return this.#readsBody;
  }

  /**
   * One header field that extends into the body: the library takes the answer for incomplete, and
   * leaves closing to us unless more than the body arrives. Its line break ends the body.
   */
  protected override writeBeforeBody(answer: ResponseMessage): boolean {
    const write = (): void => {
      const { body, contentType, ...head } = answer;
      const text = contentType === undefined ? '' : String(body);
      const type = contentType === undefined ? '' : `Content-Type: ${contentType}\r\n`;
      this.#putHead({ ...head, contentType: undefined }, true);
      this.#res.writeHeader('Connection', `close\r\n${type}Content-Length: ${Buffer.byteLength(text) + 2}\r\n\r\n${text}`);
    };
    if (this.#corked) write();
    else this.#res.cork(write);
    return true;
  }

  protected override get dropMs(): number {
    return DROP_MS;
  }

  protected override endBehindBody(): void {
    this.#res.close();
  }

  #putHead(answer: Omit<ResponseMessage, 'body'>, closes: boolean): void {
    const res = this.#res;
    if (answer.status !== 200) res.writeStatus(statusLine(answer.status));
    // One call instead of one per field saves a microsecond: it writes values verbatim, with line
    // breaks.
    const wire = answer.revalidated ? this.#wire.revalidated : this.#wire;
    let fields = answer.requestId + (closes ? wire.closed : wire.persistent);
    if (answer.contentType !== undefined) fields += `\r\nContent-Type: ${answer.contentType}`;
    for (const [name, value] of answer.headers) fields += `\r\n${name}: ${value}`;
    res.writeHeader('X-Request-Id', fields);
  }

  /** Held as a whole, because the library says too little about how much a caller has read. */
  protected override openStream(head: StreamHead, closes: boolean): Writable {
    const pieces: Uint8Array[] = [];
    return new Writable({
      write(piece: Uint8Array, _encoding, done) {
        pieces.push(piece);
        done();
      },
      final: (done) => {
        // The caller may have left in the meantime.
        if (!this.isOver) this.write({ ...head, body: Buffer.concat(pieces) }, closes);
        done();
      },
    });
  }

  protected override cutStream(): void {
    this.cut();
  }

  protected override openBody(): undefined {
    return undefined;
  }

  /**
   * The older build ignores arguments; the newer cannot omit the length. So a closing answer may
   * say `Content-Length: 0`.
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
