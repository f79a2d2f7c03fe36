// One request on a connection, whatever the library: its answer, and when the connection closes.
import type { Writable } from 'node:stream';
import { LONG_BODY_BYTES } from '../core/exchange.ts';
import type { Exchange, Handed, Incoming, RequestHead, Sink } from '../core/exchange.ts';
import type { Refusal, Reply, StreamReply } from '../core/outcome.ts';
import { refuse } from '../core/problem.ts';
import type { IncomingBody, StreamEnd } from './streamed-bodies.ts';
import type { ListenerState } from './listener.ts';
import { BodyCollector, DROP_FACTOR, compose, composeHead } from './messages.ts';
import type { MessageFraming, ResponseMessage, StreamHead } from './messages.ts';
import { StreamedAnswer } from './streamed-bodies.ts';

/** How long the rest of a body is read after an answer while the listener is draining. */
const DRAIN_DROP_MS = 5_000;

export const NO_HEAD: RequestHead = { method: '', path: '', query: '', headers: {} };

/** An answer held until its connection can close with it. */
interface HeldAnswer {
  readonly message: ResponseMessage;
  readonly x: Exchange;
  /** Set if the gateway must know whether it was written. */
  readonly reply: Reply | undefined;
}

export abstract class Call implements Sink {
  protected readonly shared: ListenerState;
  protected head: RequestHead = NO_HEAD;
  #exchange: Exchange | undefined = undefined;
  #state: 'open' | 'streaming' | 'ended' | 'gone' = 'open';
  /** Nothing after this request may be handled. */
  #closes = false;
  #refusing = false;
  /** Set while a body is still arriving, even one that is dropped. */
  #arriving: BodyCollector | undefined = undefined;
  /** `undefined` for a chunked body. */
  #announcedBytes: number | undefined = undefined;
  /** The same body, if a step streams it. */
  #incoming: IncomingBody | undefined = undefined;
  #streamed: StreamedAnswer | undefined = undefined;
  #held: HeldAnswer | undefined = undefined;
  /** Set after the answer: the connection closes with the end of the body, or by this timer. */
  #dropping: NodeJS.Timeout | undefined = undefined;

  constructor(shared: ListenerState) {
    this.shared = shared;
  }

  /** Writes the whole answer, once, never after `gone`; `false` if the connection takes no data. */
  protected abstract write(answer: ResponseMessage, closes: boolean): boolean;

  /** Whether the connection must close after an answer that precedes the end of the body. */
  protected get bodyBindsConnection(): boolean {
    return false;
  }

  /** Like `write`, for an answer that closes; the body is received until `endBehindBody`. */
  protected abstract writeBeforeBody(answer: ResponseMessage): boolean;

  /** Closes after an answer of `writeBeforeBody`, whose last bytes still reach its reader. */
  protected abstract endBehindBody(): void;

  /** How long the rest of a body is read and dropped after such an answer. */
  protected abstract readonly dropMs: number;

  /** Where a streamed answer's body goes. Its `finish` means that the system has everything. */
  protected abstract openStream(head: StreamHead, closes: boolean): Writable;

  /** Closes the connection in a way that lets the caller detect a truncated answer. */
  protected abstract cutStream(): void;

  /** The body of a route that streams it; `undefined` if the listener cannot. */
  protected abstract openBody(bytes: number | undefined): IncomingBody | undefined;

  /** Closes the connection without an answer. */
  protected abstract cut(): void;

  /** The peer address of an open request, as the system formats it. */
  protected abstract readonly peerAddress: string;

  get isOpen(): boolean {
    return this.#state === 'open';
  }

  remoteAddress(): string {
    return this.#state === 'open' ? this.peerAddress : '';
  }

  get receivedBytes(): number {
    return this.#arriving?.length ?? 0;
  }

  /** The request was answered, or its caller has disconnected. */
  get isOver(): boolean {
    return this.#state === 'ended' || this.#state === 'gone';
  }

  get closes(): boolean {
    return this.#closes;
  }

  get bodyPending(): boolean {
    return this.#arriving !== undefined;
  }

  /** Ignores the body: the library reads it to its end, and nothing is stored. */
  protected passOverBody(): void {
    this.#arriving = undefined;
  }

  /**
   * Starts the chain; `framing` is valid. Returns whether anything depends on the end of the body.
   */
  protected begin(head: RequestHead, framing: MessageFraming): boolean {
    this.#expectBody(head, framing);
    const { gateway } = this.shared;
    const x = gateway.begin(head, this, framing.bodyBytes);
    const { takesBody } = x.route;
    const streams = x.route.streamsBody === true;
    // Dropped if already answered: an idle connection would hold its texts and translations.
    if (this.#state === 'open') this.#exchange = x;
    if (x.outcome !== undefined || !takesBody) this.#arriving?.discard();
    else if (this.#arriving === undefined) gateway.body(x, 'none');
    // A streamed body may be long, so its announced length is no reason to close the connection.
    if (streams && x.outcome === undefined && this.incoming() !== undefined) this.#closes = framing.closes;
    return this.#state === 'open' && (this.#closes || this.#held !== undefined || takesBody || streams);
  }

  incoming(): Incoming | undefined {
    if (this.#incoming !== undefined || this.#arriving === undefined) return this.#incoming;
    // From here on the collector keeps nothing and only counts bytes against the limit.
    this.#arriving.discard();
    return (this.#incoming = this.openBody(this.#announcedBytes));
  }

  protected bodySilent(): void {
    this.bodyBroken('body: it did not arrive in time; send it faster or send less.');
  }

  /** Refuses the request without handling it, because its framing is broken. */
  protected refuse(head: RequestHead, framing: MessageFraming | undefined, detail: string): void {
    if (framing !== undefined) this.#expectBody(head, framing);
    this.#arriving?.discard();
    this.head = head;
    this.#closes = true;
    this.#refusing = true;
    const x = this.shared.gateway.refuse(head, this, refuse('validation_error', detail));
    if (this.#state === 'open') this.#exchange = x;
  }

  #expectBody(head: RequestHead, { closes, chunked, bodyBytes }: MessageFraming): void {
    const { bodyBytesMax } = this.shared;
    this.head = head;
    // The announced length alone may be reason to close.
    this.#closes = closes || bodyBytes > bodyBytesMax * DROP_FACTOR;
    if (!chunked && bodyBytes === 0) return;
    this.#arriving = new BodyCollector(bodyBytesMax, bodyBytes);
    if (!chunked) this.#announcedBytes = bodyBytes;
  }

  /** A chunk of the body. `borrowed` memory is only valid during the call. */
  protected receive(chunk: Uint8Array, borrowed: boolean): void {
    const body = this.#arriving;
    if (this.#state === 'gone' || body === undefined) return;
    body.add(chunk, borrowed);
    // So much that the connection is cut. The rest of a streamed body is limited by time instead: a
    // caller cut off while sending might never read the answer.
    if (this.#incoming === undefined && body.length > this.shared.bodyBytesMax * DROP_FACTOR) this.bodyComplete();
    else if (body.length > LONG_BODY_BYTES && this.#exchange?.longBody === false) this.shared.gateway.longBody(this.#exchange);
  }

  /** The body has ended, or nothing more of it is read. */
  protected bodyComplete(): void {
    const body = this.#arriving;
    if (this.#state === 'gone' || body === undefined) return;
    // Reset first, because the receiver of the end may answer synchronously.
    this.#arriving = undefined;
    if (this.#dropping !== undefined) return this.#endDropping();
    const whole = this.#incoming === undefined ? body.take() : 'none';
    if (whole === 'too_large') this.#closes = true;
    const x = this.#exchange;
    if (this.#held === undefined && x !== undefined && x.outcome === undefined && x.route.takesBody) this.shared.gateway.body(x, whole);
  }

  /** The body cannot be read to its end. */
  protected bodyBroken(detail: string): void {
    this.#dropBody();
    this.#closes = true;
    if (this.#held === undefined && this.#exchange !== undefined)
      this.shared.gateway.callOff(this.#exchange, refuse('validation_error', detail));
  }

  /**
   * A closing answer waits for a later turn: at once, uWS would go on with what follows. An
   * unfinished body is read and dropped after it, unless its deadline has passed.
   */
  send(x: Exchange, outcome: Reply | Refusal): Handed {
    if (this.#state !== 'open') return 'gone';
    const answer = compose(outcome, x, this.shared.problems);
    const { draining } = this.shared;
    if (this.#arriving !== undefined) {
      // What has arrived is not needed any more, and the rest is dropped.
      this.#arriving.discard();
      this.#incoming?.discard();
      if (this.#incoming !== undefined) this.#closes = true;
    }
    if (x.closeAfter && !this.#refusing) return this.#finish(answer, true);
    if (this.#arriving !== undefined && this.bodyBindsConnection && !this.#refusing) return this.#answerAndDrop(answer);
    if (this.#closes || (draining && this.#arriving !== undefined)) return this.#hold(answer, x, outcome);
    return this.#finish(answer, false);
  }

  /** Covers callers who read the answer at once as well as those who first send everything. */
  #answerAndDrop(answer: ResponseMessage): Handed {
    this.#closes = true;
    this.#state = 'ended';
    const { draining } = this.shared;
    if (draining) this.shared.lastAnswers++;
    this.#dropping = setTimeout(() => this.#endDropping(), draining ? DRAIN_DROP_MS : this.dropMs);
    const written = this.writeBeforeBody(answer);
    this.#held = undefined;
    this.#exchange = undefined;
    return written ? 'written' : 'gone';
  }

  /** Deferred, because the library may be in the middle of delivering a chunk. */
  #endDropping(): void {
    clearTimeout(this.#dropping);
    setImmediate(() => {
      if (this.#dropping !== undefined) this.endBehindBody();
      this.#dropping = undefined;
    });
  }

  /** Only after the whole request: callers read when they have finished writing. */
  stream(x: Exchange, outcome: StreamReply): void {
    if (this.#arriving !== undefined) throw new Error('an answer was started before its request was complete');
    const { draining } = this.shared;
    const closes = this.#closes || draining;
    const to = this.openStream(composeHead(outcome, x), closes);
    this.#state = 'streaming';
    const { body, bytes } = outcome;
    const onEnd = (how: StreamEnd): void => {
      this.#state = how === 'delivered' ? 'ended' : 'gone';
      if (how === 'delivered' && closes && this.shared.draining) this.shared.lastAnswers++;
      this.#exchange = undefined;
      this.#streamed = undefined;
      this.shared.gateway.streamed(x, outcome, how);
    };
    this.#streamed = new StreamedAnswer({ body, bytes, to, cut: () => this.cutStream(), onEnd });
  }

  /** A held reply is only charged once written, because its caller may disconnect first. */
  #hold(message: ResponseMessage, x: Exchange, outcome: Reply | Refusal): Handed {
    const reply = outcome.kind === 'reply' ? outcome : undefined;
    this.#held = { message, x, reply };
    setImmediate(() => this.#release());
    return reply === undefined ? 'written' : 'held';
  }

  #release(): void {
    const held = this.#held;
    if (this.#state !== 'open' || held === undefined) return;
    let handed: Handed = 'gone';
    try {
      handed = this.#arriving !== undefined ? this.#answerAndDrop(held.message) : this.#finish(held.message, true);
    } catch (error) {
      this.broke('write', error);
    }
    this.#tell(held, handed === 'written');
  }

  #tell({ x, reply }: HeldAnswer, written: boolean): void {
    if (reply !== undefined) this.shared.gateway.sent(x, reply, written);
  }

  #finish(answer: ResponseMessage, closes: boolean): Handed {
    this.#state = 'ended';
    if (this.shared.draining) this.shared.lastAnswers++;
    const written = this.write(answer, closes);
    this.#held = undefined;
    this.#exchange = undefined;
    return written ? 'written' : 'gone';
  }

  /** The rest will not arrive, or is not needed. */
  #dropBody(): void {
    this.#arriving = undefined;
    this.#incoming?.stop();
  }

  /** The caller has disconnected, or the connection was cut. */
  gone(): void {
    if (this.#state === 'streaming') return this.#streamed?.gone();
    clearTimeout(this.#dropping);
    this.#dropping = undefined;
    if (this.#state !== 'open') return;
    this.#state = 'gone';
    this.#dropBody();
    if (this.#held !== undefined) return this.#tell(this.#held, false);
    try {
      if (this.#exchange !== undefined) this.shared.gateway.abort(this.#exchange);
    } catch (error) {
      this.broke('abort', error);
    }
  }

  /** The listener's own code threw: the request is answered, and the process continues. */
  broke(where: string, error: unknown): void {
    this.shared.gateway.fail(this.#exchange, this.head, this, `listener.${where}`, error);
    if (this.#state === 'streaming') return this.#streamed?.broke();
    if (this.#state !== 'open') return;
    this.#state = 'gone';
    this.cut();
  }
}
