// A call on uWebSockets.js: reads its request and writes its answer.
import { Writable } from 'node:stream';
import { Call } from './call.ts';
import type { HeaderFields } from './request-message.ts';
import type { ListenerState } from './listener.ts';
import { statusLine } from './response-message.ts';
import type { ResponseMessage, StreamHead } from './response-message.ts';
import type { HttpRequest, HttpResponse } from './uws-build.ts';

/** Limit for a body after its answer; the library ends one that arrives too slowly earlier. */
const DROP_MS = 30_000;

/** How answers are written; the same for all calls of a listener. */
interface Wire {
  /** What follows the request id in an answer that keeps its connection, and in one that closes it. */
  readonly persistent: string;
  readonly closed: string;
  readonly revalidated: Pick<Wire, 'persistent' | 'closed'>;
  readonly endsHeads: boolean;
}

export function wireOf(endsHeads: boolean, idleSeconds: number): Wire {
  const [stays, stored] = [`\r\nConnection: keep-alive\r\nKeep-Alive: timeout=${idleSeconds}`, '\r\nCache-Control: no-cache'];
  const closed = '\r\nCache-Control: no-store';
  return { endsHeads, closed, persistent: closed + stays, revalidated: { closed: stored, persistent: stored + stays } };
}

/** Handles every request of an app. `fields` is reused for all of them. */
export function uwsHandler(shared: ListenerState, wire: Wire, fields: HeaderFields): (res: HttpResponse, req: HttpRequest) => void {
  return (res, req) => {
    const call = new UwsCall(shared, wire, res);
    // Must come first: without it, a throw or a missing answer terminates the process from inside the library.
    res.onAborted(() => call.gone());
    call.start(req, fields);
  };
}

class UwsCall extends Call {
  readonly #wire: Wire;
  readonly #res: HttpResponse;
  /** Set while the library is calling us and has corked the connection. */
  #corked = true;
  /** We must write `Connection: close` ourselves: the library adds it to closing answers, unless the request already contained it. */
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
      // Only register `onData` if the end of the body is awaited: it makes the library stop the connection's timer there, even
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

  /** After the last chunk of a body that it delivers, the library has no timer running: the connection would stay open for ever. */
  protected override get bodyBindsConnection(): boolean {
    return this.#readsBody;
  }

  /**
   * Written as a single header field that extends into the body. To the library the answer is incomplete, so the connection
   * stays ours to close, and the library closes it if anything but the body arrives. The line break that it appends counts as
   * the last bytes of the body.
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
    // One call into the library instead of one per field, which saves a microsecond: it writes values verbatim, including line
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
   * In the older build, `endWithoutBody` ignores its arguments; in the newer one, the length cannot be omitted. A closing
   * answer may therefore have to say `Content-Length: 0`.
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
