// One attempt at an upstream: watches how http-proxy-3 sends the request, and judges the answer.
import type { ClientRequest, IncomingMessage } from 'node:http';
import type { Cancellation, NodeMessages } from '../core/exchange.ts';
import { answeredId } from '../domain/ulid.ts';
import type { AnsweredId } from '../domain/ulid.ts';
import type { UpstreamAnswer, UpstreamRequest, UpstreamResult } from './upstream.ts';

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
const BODILESS: ReadonlySet<number> = new Set([204, 304]);

export class ProxyCall {
  readonly #request: UpstreamRequest;
  readonly #onAnswer: (hasOurId: boolean) => void;
  readonly #resolve: (result: UpstreamResult) => void;
  readonly #total: NodeJS.Timeout | undefined;
  /** Runs only while the upstream is waited for. */
  #silence: NodeJS.Timeout | undefined = undefined;
  /** The result was reported; an answer may still be arriving. */
  #over = false;
  #sent = false;
  #sentBytes = 0;
  /** The upstream must first take what it was sent of the body. */
  #awaitsDrain = false;
  /** An answer that arrived before the whole request was sent. */
  #early: UpstreamAnswer | undefined = undefined;
  #upstream: ClientRequest | undefined = undefined;
  #answer: IncomingMessage | undefined = undefined;

  constructor(
    request: UpstreamRequest,
    cancellation: Cancellation,
    onAnswer: (hasOurId: boolean) => void,
    resolve: (result: UpstreamResult) => void,
  ) {
    this.#request = request;
    this.#onAnswer = onAnswer;
    this.#resolve = resolve;
    this.#total = request.totalMs === undefined ? undefined : setTimeout(() => this.#expire(), request.totalMs);
    cancellation.onCancel(() => this.#fail('cancelled'));
  }

  start(web: (messages: NodeMessages) => void): void {
    const { body, messages, target } = this.#request;
    try {
      if (messages === undefined) throw new Error('only node:http can forward');
      messages.request.url = target;
      messages.request.headers = framed(this.#request);
      if (body !== undefined) {
        body.stream
          .once('overdue', this.#onOverdue)
          .on('data', this.#onPiece)
          .on('pause', this.#onFull)
          .on('resume', this.#onDrained)
          .once('end', this.#onSent);
      }
      web(messages);
      if (body === undefined) this.#onSent();
    } catch {
      this.#fail('internal');
    }
  }

  failed(error: NodeJS.ErrnoException): void {
    this.#fail(NO_CONNECTION.has(error.code ?? '') ? 'connect' : 'reset');
  }

  /** The request has a connection, and nothing has been sent yet. */
  sending(upstream: ClientRequest): void {
    this.#upstream = upstream;
    if (this.#over) return void upstream.destroy();
    // Without an answer or an error, if the upstream has switched protocols.
    upstream.once('close', () => void (this.#answer ?? this.#fail('reset')));
    upstream.on('information', ({ rawHeaders }) => void (this.#over || this.#refuses(this.#idIn(rawHeaders))));
  }

  readonly #onOverdue = (): void => this.#fail('timeout');

  readonly #onPiece = (bytes: Uint8Array): void => {
    this.#sentBytes += bytes.byteLength;
    if (this.#sentBytes > this.#request.route.body_bytes) this.#fail('too_large');
  };

  readonly #onFull = (): void => {
    this.#awaitsDrain = true;
    this.#watch();
  };

  /** The silence timeout does not run while waiting for more of the caller's body. */
  readonly #onDrained = (): void => {
    this.#awaitsDrain = false;
    this.#rest();
  };

  readonly #onSent = (): void => {
    this.#sent = true;
    this.#letGo();
    if (this.#early === undefined) this.#watch();
    else this.#succeed(this.#early);
  };

  /** The caller's body is no longer this attempt's. */
  #letGo(): void {
    const { body } = this.#request;
    if (body === undefined) return;
    body.stream
      .off('overdue', this.#onOverdue)
      .off('data', this.#onPiece)
      .off('pause', this.#onFull)
      .off('resume', this.#onDrained)
      .off('end', this.#onSent);
  }

  /** The head of the upstream's answer has arrived. */
  answered(message: IncomingMessage): void {
    const { statusCode: status = 0, headers } = message;
    this.#answer = message;
    message.pause();
    // A slow caller pauses the answer: that is no silence.
    message.on('data', this.#watch).on('resume', this.#watch).on('pause', this.#rest);
    message.on('end', () => !message.destroyed && this.#refuses(this.#idIn(message.rawTrailers)) && this.#breakOff());
    // A truncated answer emits `error`; without a listener it would end the process.
    message.on('error', () => undefined).on('close', () => this.#answerOver());
    if (this.#over) return void message.destroy();
    const id = this.#idIn(message.rawHeaders);
    this.#onAnswer(id === 'ours');
    if (this.#refuses(id)) return;
    // On a connection that was used before, it may be another request's.
    if (id !== 'ours' && this.#upstream?.reusedSocket === true) return this.#fail('foreign_id');
    const bytes = lengthOf(message);
    // Without a length or chunking, a truncated body looks complete.
    if (bytes === undefined && !/chunked/i.test(headers['transfer-encoding'] ?? '')) return this.#fail('no_length');
    const answer: UpstreamAnswer = { status, headers, bytes, body: message };
    // A failure is passed on at once, a success only after the whole request was sent.
    if (this.#sent || status >= 300) this.#succeedSoon(answer, message);
    else this.#early = answer;
  }

  /** Once all that came with the head is parsed, which may be its trailers. */
  #succeedSoon(answer: UpstreamAnswer, message: IncomingMessage): void {
    queueMicrotask(() => this.#over || this.#refuses(this.#idIn(message.rawTrailers)) || this.#succeed(answer));
  }

  /** Ends call and connection if an answer, interim or final, has another request's id. */
  #refuses(id: AnsweredId): boolean {
    if (!this.#request.route.check_ids || id !== 'foreign') return false;
    this.#fail('foreign_id');
    return true;
  }

  /** If there are several ids, any foreign one decides; the server's own say nothing. Names and values in turn. */
  #idIn(fields: readonly string[]): AnsweredId {
    const sent = this.#request.headers[ID_FIELD] ?? '';
    let found: AnsweredId = 'own';
    for (let i = 0; i + 1 < fields.length && found !== 'foreign'; i += 2) {
      const id = fields[i]!.toLowerCase() === ID_FIELD ? answeredId(fields[i + 1]!, sent) : 'own';
      if (id !== 'own') found = id;
    }
    return found;
  }

  #answerOver(): void {
    this.#rest();
    clearTimeout(this.#total);
    // The connection would wait for the rest of the body.
    if (!this.#sent) this.#upstream?.destroy();
  }

  #succeed(answer: UpstreamAnswer): void {
    if (this.#over) return void answer.body.destroy();
    this.#over = true;
    this.#rest();
    // Answered before the whole body was sent, and therefore refused: the rest is not read.
    if (!this.#sent) this.#stopSending();
    this.#resolve(answer);
  }

  #expire(): void {
    const awaitsBody = this.#upstream !== undefined && !this.#sent && !this.#awaitsDrain;
    this.#fail(awaitsBody ? 'too_slow' : 'timeout');
    this.#breakOff();
  }

  #fail(result: Exclude<UpstreamResult, UpstreamAnswer>): void {
    if (this.#over) return;
    this.#over = true;
    this.#rest();
    clearTimeout(this.#total);
    this.#stopSending();
    this.#answer?.destroy();
    this.#upstream?.destroy();
    this.#resolve(result);
  }

  #stopSending(): void {
    this.#letGo();
    this.#request.body?.stream.unpipe();
  }

  /** Ends an answer that is being passed on, so that its reader sees that it is not whole. */
  #breakOff(): void {
    this.#answer?.destroy(new Error('the answer is not whole'));
  }

  readonly #watch = (): void => {
    if (this.#silence !== undefined) return void this.#silence.refresh();
    this.#silence = setTimeout(() => (this.#over ? this.#breakOff() : this.#fail('timeout')), this.#request.route.timeout_ms);
  };

  readonly #rest = (): void => {
    clearTimeout(this.#silence);
    this.#silence = undefined;
  };
}

function lengthOf({ statusCode = 0, headers }: IncomingMessage): number | undefined {
  if (BODILESS.has(statusCode)) return 0;
  const length = headers['content-length'];
  return length === undefined ? undefined : Number(length);
}

/** The fields, with our own framing. */
function framed({ method, headers, body }: UpstreamRequest): Record<string, string> {
  if (body === undefined) return WITH_LENGTH.has(method) ? { ...headers, 'content-length': '0' } : { ...headers };
  if (body.bytes === undefined) return { ...headers, 'transfer-encoding': 'chunked' };
  return { ...headers, 'content-length': String(body.bytes) };
}
