// One try at an upstream: gives http-proxy-3 the request and response objects that it expects, and reports what became of them.
import { EventEmitter } from 'node:events';
import type { ClientRequest, IncomingMessage, ServerResponse } from 'node:http';
import type { Cancellation } from '../core/exchange.ts';
import type { UpstreamAnswer, UpstreamFailure, UpstreamRequest, UpstreamResult } from '../ports/upstream.ts';
import { AnswerBody } from './answer-body.ts';
import type { DoubtfulCall, KeptConnections } from './kept-connections.ts';
import { Silence } from './silence.ts';

const NO_CONNECTION: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EADDRNOTAVAIL',
  'ETIMEDOUT',
]);
const ID_FIELD = 'x-request-id';
const WITH_LENGTH: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH']);

export class ProxyCall implements DoubtfulCall {
  /** As much of a request as the library looks at: the method, the target, fresh fields, and a body to pipe. */
  readonly request: IncomingMessage;
  /** The few properties of a response that the library reads. The event `close` ends the upstream's request. */
  readonly #response: ServerResponse;
  readonly #wanted: UpstreamRequest;
  readonly #connections: KeptConnections;
  readonly #resolve: (result: UpstreamResult) => void;
  readonly #silence: Silence;
  readonly #total: NodeJS.Timeout | undefined;
  #over = false;
  #sent = false;
  #sentBytes = 0;
  /** The answer, where it came before the whole request was sent. */
  #early: UpstreamAnswer | undefined = undefined;
  #body: AnswerBody | undefined = undefined;
  #upstream: ClientRequest | undefined = undefined;
  /** The answer says that it is ours. */
  #echoed = false;
  /** That a second answer followed it is known to others. */
  #told = false;

  constructor(
    wanted: UpstreamRequest,
    cancellation: Cancellation,
    connections: KeptConnections,
    resolve: (result: UpstreamResult) => void,
  ) {
    this.#wanted = wanted;
    this.#connections = connections;
    this.#resolve = resolve;
    this.#silence = new Silence(wanted.silenceMs, () => this.#fail('timeout'));
    this.#total = wanted.totalMs === undefined ? undefined : setTimeout(() => this.#expire(), wanted.totalMs);
    this.request = {
      method: wanted.method,
      url: wanted.target,
      headers: framed(wanted),
      httpVersionMajor: 1,
      socket: { destroyed: false },
      on: () => undefined,
      pipe: (upstream: ClientRequest) => this.#send(upstream),
    } as unknown as IncomingMessage;
    const standing = { headersSent: false, finished: false, writableFinished: false };
    this.#response = Object.assign(new EventEmitter(), standing) as unknown as ServerResponse;
    cancellation.onCancel(() => this.#fail('cancelled'));
  }

  start(web: (request: IncomingMessage, response: ServerResponse) => void): void {
    try {
      web(this.request, this.#response);
    } catch {
      this.#fail('internal');
    }
  }

  failed(error: NodeJS.ErrnoException): void {
    // What cannot be read may be the rest of an earlier answer.
    if (error.code?.startsWith('HPE_') === true && this.#reused) this.#connections.unasked();
    this.#fail(NO_CONNECTION.has(error.code ?? '') ? 'connect' : 'reset');
  }

  /** The upstream's head has come. */
  answered(message: IncomingMessage): void {
    const { statusCode: status = 0, headers } = message;
    const isWhole = (): boolean => this.#faultOf(message) === undefined;
    this.#body = new AnswerBody({ message, silenceMs: this.#wanted.silenceMs, isWhole, onOver: () => this.#answerOver() });
    if (this.#over) return this.#body.cancel();
    if (this.#refusesIdIn(message.rawHeaders)) return;
    this.#echoed = this.#idIn(message.rawHeaders) === 'ours';
    // Without a length or chunks, a body that was cut short looks like a whole one.
    if (this.#body.bytes === undefined && !/chunked/i.test(headers['transfer-encoding'] ?? '')) return this.#fail('no_length');
    const answer: UpstreamAnswer = { kind: 'answer', status, headers: joined(headers), body: this.#body };
    // A failure is passed on at once, a success only when the whole request has been sent.
    if (this.#sent || status >= 300) this.#succeedSoon(answer, message);
    else this.#early = answer;
  }

  /** When the bytes that came with the answer's head have been read: a second answer among them ends the connection. */
  #succeedSoon(answer: UpstreamAnswer, message: IncomingMessage): void {
    queueMicrotask(() => {
      if (this.#over) return answer.body.cancel();
      const fault = this.#faultOf(message);
      if (fault === undefined) this.#succeed(answer);
      else this.#fail(fault);
    });
  }

  /** What makes the answer unusable, as far as it has come. */
  #faultOf(message: IncomingMessage): UpstreamFailure | undefined {
    if (this.#refusesIdIn(message.rawTrailers)) return 'foreign_id';
    if (!this.#doubled(message)) return undefined;
    if (!this.#told) this.#connections.unasked();
    this.#told = true;
    // On a connection that carried a request before, an answer with another one behind it may be an answer to that.
    return this.#echoed || !this.#reused ? undefined : 'unasked';
  }

  /** Fields of an answer, of an interim one before it or behind its body: with another request's id it ends, and its connection. */
  #refusesIdIn(fields: readonly string[]): boolean {
    if (!this.#wanted.checkIds || this.#idIn(fields) !== 'foreign') return false;
    const { socket } = this.#upstream ?? {};
    const reused = this.#reused;
    this.#fail('foreign_id');
    // Behind the last byte the library would keep it.
    socket?.destroy();
    if (reused) this.#connections.unasked();
    return true;
  }

  /** Of several ids, one that is not ours decides. */
  #idIn(fields: readonly string[]): 'none' | 'ours' | 'foreign' {
    const ours = this.#wanted.headers['x-request-id'];
    let found: 'none' | 'ours' = 'none';
    for (let i = 0; i + 1 < fields.length; i += 2) {
      if (fields[i]!.length !== ID_FIELD.length || fields[i]!.toLowerCase() !== ID_FIELD) continue;
      if (fields[i + 1] !== ours) return 'foreign';
      found = 'ours';
    }
    return found;
  }

  /** Node ends a connection at once when a second answer begins on it; an upstream that ends it has said so, or broken it. */
  #doubled({ complete }: IncomingMessage): boolean {
    const socket = this.#upstream?.socket;
    return complete && socket?.destroyed === true && !socket.readableEnded && socket.errored === null;
  }

  distrust(): void {
    if (this.#echoed) return;
    this.#fail('unasked');
    this.#body?.expire();
  }

  get #reused(): boolean {
    return this.#upstream?.reusedSocket === true;
  }

  #answerOver(): void {
    clearTimeout(this.#total);
    this.#connections.forget(this);
  }

  #send(upstream: ClientRequest): void {
    const { body, bodyBytesMax } = this.#wanted;
    this.#upstream = upstream;
    upstream.on('information', ({ rawHeaders }) => void (this.#over || this.#refusesIdIn(rawHeaders)));
    if (this.#reused) this.#connections.watch(this);
    if (body === undefined) return this.#allSent(upstream);
    body.open({
      piece: (bytes) => {
        this.#sentBytes += bytes.byteLength;
        if (this.#sentBytes > bodyBytesMax) return this.#finish({ kind: 'too_large' });
        // The deadline for silence does not run while we wait for more of the caller's body.
        if (upstream.write(bytes)) return this.#silence.rest();
        body.pause();
        this.#silence.watch();
        upstream.once('drain', () => {
          if (this.#over) return;
          this.#silence.rest();
          body.resume();
        });
      },
      end: () => this.#allSent(upstream),
      fail: () => this.#fail('cancelled'),
    });
  }

  #allSent(upstream: ClientRequest): void {
    this.#sent = true;
    upstream.end();
    if (this.#early === undefined) this.#silence.watch();
    else this.#succeed(this.#early);
  }

  #succeed(answer: UpstreamAnswer): void {
    if (this.#over) return answer.body.cancel();
    this.#over = true;
    this.#silence.rest();
    // Answered before its whole body was sent, and so refused: the rest of the body is not read.
    if (!this.#sent) this.#wanted.body?.cancel();
    this.#resolve(answer);
  }

  #fail(failure: UpstreamFailure): void {
    this.#finish({ kind: 'failed', failure });
  }

  #expire(): void {
    this.#fail('timeout');
    this.#body?.expire();
  }

  #finish(result: UpstreamResult): void {
    if (this.#over) return;
    this.#over = true;
    this.#silence.rest();
    clearTimeout(this.#total);
    this.#connections.forget(this);
    this.#wanted.body?.cancel();
    this.#body?.cancel();
    this.#response.emit('close');
    this.#resolve(result);
  }
}

/** The fields, framed anew. */
function framed({ method, headers, body }: UpstreamRequest): Record<string, string> {
  if (body === undefined) return WITH_LENGTH.has(method) ? { ...headers, 'content-length': '0' } : { ...headers };
  if (body.bytes === undefined) return { ...headers, 'transfer-encoding': 'chunked' };
  return { ...headers, 'content-length': String(body.bytes) };
}

function joined(headers: IncomingMessage['headers']): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : (value ?? '')]),
  );
}
