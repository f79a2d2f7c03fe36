// One attempt at an upstream: adapts to the request and response objects that http-proxy-3 expects, and reports the result.
import type { ClientRequest, IncomingMessage, ServerResponse } from 'node:http';
import type { StreamFault } from '../core/byte-stream.ts';
import type { Cancellation } from '../core/exchange.ts';
import { answeredId } from '../domain/request-id.ts';
import type { UpstreamAnswer, UpstreamFailure, UpstreamRequest, UpstreamResult } from '../ports/upstream.ts';
import { AnswerBody, Silence } from './answer-body.ts';
import type { DoubtfulCall, KeptConnections } from './kept-connections.ts';

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
  /** The part of a request that the library reads: the method, the target, new header fields, and a body to pipe. */
  readonly request: IncomingMessage;
  readonly #response = new ResponseStub();
  readonly #wanted: UpstreamRequest;
  readonly #connections: KeptConnections;
  readonly #resolve: (result: UpstreamResult) => void;
  readonly #silence: Silence;
  readonly #total: NodeJS.Timeout | undefined;
  #over = false;
  #sent = false;
  #sentBytes = 0;
  /** The upstream must first take what it was sent of the body. */
  #awaitsDrain = false;
  /** An answer that arrived before the whole request was sent. */
  #early: UpstreamAnswer | undefined = undefined;
  #body: AnswerBody | undefined = undefined;
  #upstream: ClientRequest | undefined = undefined;
  /** The answer carries our request id. */
  #echoed = false;
  /** A second answer after it has already been reported. */
  #reported = false;

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
    cancellation.onCancel(() => this.#fail('cancelled'));
  }

  start(web: (request: IncomingMessage, response: ServerResponse) => void): void {
    try {
      web(this.request, this.#response as unknown as ServerResponse);
    } catch {
      this.#fail('internal');
    }
  }

  failed(error: NodeJS.ErrnoException): void {
    // Unparsable bytes may be the rest of an earlier answer.
    if (error.code?.startsWith('HPE_') === true && this.#reused) this.#connections.unasked();
    this.#fail(NO_CONNECTION.has(error.code ?? '') ? 'connect' : 'reset');
  }

  /** The head of the upstream's answer has arrived. */
  answered(message: IncomingMessage): void {
    const { statusCode: status = 0, headers } = message;
    const isWhole = (): boolean => this.#faultOf(message) === undefined;
    this.#body = new AnswerBody({ message, silenceMs: this.#wanted.silenceMs, isWhole, onOver: () => this.#answerOver() });
    if (this.#over) return this.#body.cancel();
    if (this.#refusesIdIn(message.rawHeaders)) return;
    this.#echoed = this.#idIn(message.rawHeaders) === 'ours';
    if (!this.#connections.vouchesFor(this.#upstream!, this.#echoed, this.#wanted.body !== undefined)) return this.#fail('unasked');
    // Without a length or chunking, a truncated body looks complete.
    if (this.#body.bytes === undefined && !/chunked/i.test(headers['transfer-encoding'] ?? '')) return this.#fail('no_length');
    const answer: UpstreamAnswer = { kind: 'answer', status, headers, body: this.#body };
    // A failure is passed on at once, a success only after the whole request was sent.
    if (this.#sent || status >= 300) this.#succeedSoon(answer, message);
    else this.#early = answer;
  }

  /** Waits until the bytes that arrived with the answer's head are parsed: a second answer among them closes the connection. */
  #succeedSoon(answer: UpstreamAnswer, message: IncomingMessage): void {
    queueMicrotask(() => {
      if (this.#over) return answer.body.cancel();
      const fault = this.#faultOf(message);
      if (fault === undefined) this.#succeed(answer);
      else this.#fail(fault);
    });
  }

  /** Why the answer received so far is unusable. */
  #faultOf(message: IncomingMessage): UpstreamFailure | undefined {
    if (this.#refusesIdIn(message.rawTrailers)) return 'foreign_id';
    if (!this.#doubled(message)) return undefined;
    if (!this.#reported) this.#connections.unasked();
    this.#reported = true;
    // On a reused connection, an answer followed by another one may belong to the previous request.
    return this.#echoed || !this.#reused ? undefined : 'unasked';
  }

  /**
   * Checks the fields of a final or interim answer, or its trailers: if they carry another request's id, ends the call and its
   * connection.
   */
  #refusesIdIn(fields: readonly string[]): boolean {
    if (!this.#wanted.checkIds || this.#idIn(fields) !== 'foreign') return false;
    const { socket } = this.#upstream ?? {};
    const reused = this.#reused;
    this.#fail('foreign_id');
    // After the last byte, the library would keep the connection.
    socket?.destroy();
    if (reused) this.#connections.unasked();
    return true;
  }

  /** If there are several ids, any foreign one decides; the server's own say nothing. */
  #idIn(fields: readonly string[]): 'none' | 'ours' | 'foreign' {
    const sent = this.#wanted.headers['x-request-id'] ?? '';
    let found: 'none' | 'ours' = 'none';
    for (let i = 0; i + 1 < fields.length; i += 2) {
      if (fields[i]!.length !== ID_FIELD.length || fields[i]!.toLowerCase() !== ID_FIELD) continue;
      const id = answeredId(fields[i + 1]!, sent);
      if (id === 'foreign') return 'foreign';
      if (id === 'ours') found = 'ours';
    }
    return found;
  }

  /** Node destroys the socket when a second answer begins; an upstream that closes it itself causes `end` or an error. */
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
    this.#connections.calls.delete(this);
    // The connection would wait for the rest of the body.
    if (!this.#sent) this.#upstream?.destroy();
  }

  #send(upstream: ClientRequest): void {
    const { body, bodyBytesMax } = this.#wanted;
    this.#upstream = upstream;
    upstream.on('information', ({ rawHeaders }) => void (this.#over || this.#refusesIdIn(rawHeaders)));
    if (this.#reused) this.#connections.calls.add(this);
    if (body === undefined) return this.#allSent(upstream);
    body.open({
      piece: (bytes) => {
        this.#sentBytes += bytes.byteLength;
        if (this.#sentBytes > bodyBytesMax) return this.#finish({ kind: 'too_large' });
        // The silence timeout does not run while waiting for more of the caller's body.
        if (upstream.write(bytes)) return this.#silence.rest();
        body.pause();
        this.#awaitsDrain = true;
        this.#silence.watch();
        upstream.once('drain', () => {
          if (this.#over) return;
          this.#awaitsDrain = false;
          this.#silence.rest();
          body.resume();
        });
      },
      end: () => this.#allSent(upstream),
      fail: (why) => this.#bodyFailed(why),
    });
  }

  /** A body that took too long has waited for the upstream: a caller who sends nothing is refused by the listener. */
  #bodyFailed(why: StreamFault): void {
    if (why === 'too_long') this.#finish({ kind: 'too_large' });
    else this.#fail(why === 'late' ? 'timeout' : 'cancelled');
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
    // Answered before the whole body was sent, and therefore refused: the rest of the body is not read.
    if (!this.#sent) this.#wanted.body?.cancel();
    this.#resolve(answer);
  }

  #fail(failure: UpstreamFailure): void {
    this.#finish({ kind: 'failed', failure });
  }

  #expire(): void {
    const awaitsBody = this.#upstream !== undefined && !this.#sent && !this.#awaitsDrain;
    this.#finish(awaitsBody ? { kind: 'too_slow' } : { kind: 'failed', failure: 'timeout' });
    this.#body?.expire();
  }

  #finish(result: UpstreamResult): void {
    if (this.#over) return;
    this.#over = true;
    this.#silence.rest();
    clearTimeout(this.#total);
    this.#connections.calls.delete(this);
    this.#wanted.body?.cancel();
    this.#body?.cancel();
    this.#response.close();
    this.#resolve(result);
  }
}

/** The fields, with our own framing. */
function framed({ method, headers, body }: UpstreamRequest): Record<string, string> {
  if (body === undefined) return WITH_LENGTH.has(method) ? { ...headers, 'content-length': '0' } : { ...headers };
  if (body.bytes === undefined) return { ...headers, 'transfer-encoding': 'chunked' };
  return { ...headers, 'content-length': String(body.bytes) };
}

/** The few members of a response that the library uses. Closing it ends the upstream request. */
class ResponseStub {
  readonly headersSent = false;
  readonly finished = false;
  readonly writableFinished = false;
  #onClose: (() => void) | undefined = undefined;

  on(event: string, listener: () => void): this {
    if (event === 'close') this.#onClose = listener;
    return this;
  }

  close(): void {
    this.#onClose?.();
  }
}
