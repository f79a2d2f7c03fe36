// One request of the node:http listener.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { TLSSocket } from 'node:tls';
import type { NodeMessages } from '../core/exchange.ts';
import { Call } from './call.ts';
import { IncomingBody } from './incoming-body.ts';
import type { HeaderFields } from './request-message.ts';
import type { ListenerState } from './listener.ts';
import { fieldsOf } from './response-message.ts';
import type { ResponseMessage, StreamHead } from './response-message.ts';

/** The accepted versions; Node's parser also accepts 0.9 and 2.0. */
const SPOKEN: ReadonlySet<string> = new Set(['1.0', '1.1']);
const BAD_VERSION = 'request: only HTTP/1.1 and HTTP/1.0 are supported.';

/**
 * A caller who stops reading is cut off; Node's own timers only watch callers who send. The timer runs twice before the cut,
 * because the system's buffers have always absorbed some data the first time: the effective limit is 10 s.
 */
const UNREAD_MS = 5_000;
/** How long the rest of a body may take after an answer that did not wait for it. */
const REST_MS = 10_000;
/** Longer answers are passed as bytes: Node keeps a copy of a string, three times as large, until it is read. */
const STRING_MAX = 65_536;

export class NodeCall extends Call {
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

  /** Writes all of the answer except its end, which would make Node close the connection while the body is still arriving. */
  protected override writeBeforeBody(answer: ResponseMessage): boolean {
    if (!this.#req.socket.writable) return false;
    this.#req.resume();
    const body = this.#putHead(answer, true);
    if (body === undefined) this.#res.flushHeaders();
    else this.#res.write(body);
    return this.#taken;
  }

  /** Whether the system accepted the data. A failure is known at once if the caller has reset the connection. */
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
   * Resets the connection: to HTTP/1.0, an answer without a length would look complete. With TLS the
   * missing close_notify reveals it.
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
