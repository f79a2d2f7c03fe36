// One request on a connection, whichever library carries it: its answer, and when the connection has to end.
import type { ByteSource } from '../core/byte-stream.ts';
import type { Body, Exchange, Handed, RequestHead, Sink } from '../core/exchange.ts';
import type { Refusal, Reply, StreamReply } from '../core/outcome.ts';
import { refuse } from '../core/problem.ts';
import { CallBody } from './call-body.ts';
import type { BodyConnection } from './call-body.ts';
import type { FramingGuard } from './framing.ts';
import type { ListenerState } from './listener.ts';
import { StreamedAnswer } from './streamed-answer.ts';
import type { StreamWriter, WriterEvents } from './streamed-answer.ts';
import { compose, composeHead } from './response-message.ts';
import type { ResponseMessage, StreamHead } from './response-message.ts';

/** How long the rest of a body is read and dropped behind an answer of a listener that stops. */
const DRAIN_DROP_MS = 5_000;

export const NO_HEAD: RequestHead = { method: '', path: '', query: '', headers: {} };

/** An answer that waits until its connection may end with it. */
interface HeldAnswer {
  readonly message: ResponseMessage;
  readonly x: Exchange;
  /** Set where the gateway has to know whether it was written. */
  readonly reply: Reply | undefined;
}

export abstract class Call implements Sink, BodyConnection {
  protected readonly shared: ListenerState;
  protected head: RequestHead = NO_HEAD;
  #exchange: Exchange | undefined = undefined;
  #state: 'open' | 'streaming' | 'ended' | 'gone' = 'open';
  /** Nothing that comes after this request may be handled. */
  #closes = false;
  #refusing = false;
  readonly #body: CallBody;
  #streamed: StreamedAnswer | undefined = undefined;
  #held: HeldAnswer | undefined = undefined;
  /** The answer is written, and the connection ends when the rest of the body has come, or this timer is over. */
  #dropping: NodeJS.Timeout | undefined = undefined;

  constructor(shared: ListenerState) {
    this.shared = shared;
    this.#body = new CallBody(shared.bodyBytesMax, this, shared.spareRoom);
  }

  /** Writes the answer, all at once; `false` when the connection takes nothing any more. Called at most once, never after `gone`. */
  protected abstract write(answer: ResponseMessage, closes: boolean): boolean;

  /** Whether the library cannot keep the connection behind an answer that is written before the body's end. */
  protected get bodyBindsConnection(): boolean {
    return false;
  }

  /** As `write`, for an answer that ends the connection, which goes on taking the rest of the body until `endBehindBody`. */
  protected abstract writeBeforeBody(answer: ResponseMessage): boolean;

  /** Ends the connection behind an answer of `writeBeforeBody`, whose last bytes still reach a caller who reads. */
  protected abstract endBehindBody(): void;

  /** How long the rest of a body is read and dropped behind such an answer. */
  protected abstract readonly dropMs: number;

  /** Begins a streamed answer. */
  protected abstract openStream(head: StreamHead, closes: boolean, events: WriterEvents): StreamWriter;

  /** Ends the connection without an answer. */
  protected abstract cut(): void;

  /** Of an open request; the system's text. */
  protected abstract readonly peerAddress: string;

  abstract pauseBody(): void;

  abstract resumeBody(): void;

  get isOpen(): boolean {
    return this.#state === 'open';
  }

  remoteAddress(): string {
    return this.#state === 'open' ? this.peerAddress : '';
  }

  /** It was answered, or its caller has gone. */
  get isOver(): boolean {
    return this.#state === 'ended' || this.#state === 'gone';
  }

  get closes(): boolean {
    return this.#closes;
  }

  get bodyPending(): boolean {
    return this.#body.pending;
  }

  /** A step streams the body and is ready for more. */
  protected get bodyFlows(): boolean {
    return this.#body.flows;
  }

  /** Whether the chain, or the end of the connection, waits for the body's end. */
  protected get awaitsBody(): boolean {
    const route = this.#exchange?.route;
    return this.#state === 'open' && (this.#closes || this.#held !== undefined || route?.takesBody === true || route?.streams === true);
  }

  /** Drops the body: the library reads on to its end, and nothing is kept. */
  protected passOverBody(): void {
    this.#body.passOver();
  }

  /** Starts the chain. `framing` has been judged. */
  protected begin(head: RequestHead, framing: FramingGuard): void {
    this.#expectBody(head, framing);
    const { gateway } = this.shared;
    const x = this.#remember(gateway.begin(head, this, framing.bodyBytes));
    const wanted = x.outcome === undefined && x.route.takesBody;
    if (!wanted) this.#body.discard();
    else if (!this.#body.pending) gateway.body(x, 'none');
    if (x.route.streams === true && x.outcome === undefined) this.#stream(framing);
  }

  /** The body waits until a step takes it, in bounded memory. */
  #stream(framing: FramingGuard): void {
    // A streamed body may be long: its announced length is no reason to cut the connection.
    this.#closes = framing.closes;
    // After this turn's bytes: a body that is complete by then needs no pause, and a paused connection does not report a caller who leaves.
    if (this.incoming() !== undefined) setImmediate(() => this.#body.holdBack());
  }

  get bodyMs(): number {
    return this.shared.gateway.requestMs;
  }

  incoming(): ByteSource | undefined {
    return this.#body.incoming();
  }

  bodySilent(): void {
    this.bodyBroken('body: it did not arrive in time; send it faster or send less.');
  }

  /** Answers without handling: the framing is broken. */
  protected refuse(head: RequestHead, framing: FramingGuard | undefined, detail: string): void {
    if (framing !== undefined) this.#expectBody(head, framing);
    this.#body.discard();
    this.head = head;
    this.#closes = true;
    this.#refusing = true;
    this.#remember(this.shared.gateway.refuse(head, this, refuse('validation_error', detail)));
  }

  /** Not kept if it was answered at once: an idle connection would keep its texts and translations in memory. */
  #remember(x: Exchange): Exchange {
    if (this.#state === 'open') this.#exchange = x;
    return x;
  }

  #expectBody(head: RequestHead, framing: FramingGuard): void {
    this.head = head;
    this.#closes = framing.closes || this.#body.floods(framing);
    this.#body.expect(framing);
  }

  /** A piece of the body. `borrowed`: its memory is gone when this returns. */
  protected receive(chunk: Uint8Array, borrowed: boolean): void {
    if (this.#state === 'gone') return;
    if (this.#body.add(chunk, borrowed)) this.#bodyOver('too_large');
    else if (this.#body.isLong && this.#exchange?.longBody === false) this.shared.gateway.longBody(this.#exchange);
  }

  protected bodyComplete(): void {
    if (this.#state === 'gone') return;
    const body = this.#body.end();
    if (body !== undefined) this.#bodyOver(body);
  }

  #bodyOver(body: Body): void {
    if (this.#dropping !== undefined) return this.#endDropping();
    const x = this.#exchange;
    if (body === 'too_large') this.#closes = true;
    if (this.#held === undefined && x !== undefined && x.outcome === undefined && x.route.takesBody) this.shared.gateway.body(x, body);
  }

  /** The body cannot be read to its end. */
  protected bodyBroken(detail: string): void {
    this.#body.drop();
    this.#closes = true;
    if (this.#held === undefined && this.#exchange !== undefined)
      this.shared.gateway.callOff(this.#exchange, refuse('validation_error', detail));
  }

  /**
   * An answer that ends the connection is written in a later turn of the event loop: written at once, uWS would go on and
   * handle what comes after this request, and in that turn the body may turn out to be complete. Where it is not, the rest is
   * read and dropped behind the answer: a caller who is cut off while sending might never read it. Only a request that has
   * passed its deadline is answered and closed at once.
   */
  send(x: Exchange, outcome: Reply | Refusal): Handed {
    if (this.#state !== 'open') return 'gone';
    const answer = compose(outcome, x, this.shared.problems);
    const { draining } = this.shared;
    if (this.#body.cancelRest()) this.#closes = true;
    // What has come is not looked at any more, and what comes is dropped.
    this.#body.discard();
    // Refused by what is known of its caller: no step that reads the body was reached, or it has read it to find the key.
    if (typeof x.body !== 'string' && !x.entered && !x.waiting) {
      this.shared.spareRoom.give(x.body);
      x.body = 'none';
    }
    if (x.closeAfter && !this.#refusing) return this.#finish(answer, true);
    if (this.#body.pending && this.bodyBindsConnection && !this.#refusing) return this.#answerAndDrop(answer);
    if (this.#closes || (draining && this.#body.pending)) return this.#hold(answer, x, outcome);
    return this.#finish(answer, false);
  }

  /** A caller may read the answer at once, or when all is sent. */
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

  /** Not while the library is handing over a piece. */
  #endDropping(): void {
    clearTimeout(this.#dropping);
    setImmediate(() => {
      if (this.#dropping !== undefined) this.endBehindBody();
      this.#dropping = undefined;
    });
  }

  /** Only after the whole request: callers read when they have written, and uWS keeps either a body or an answer going, not both. */
  stream(x: Exchange, outcome: StreamReply): void {
    if (this.#body.pending) throw new Error('an answer was begun before its request had come');
    this.#body.release();
    const { draining } = this.shared;
    const head = composeHead(outcome, x);
    const closes = this.#closes || draining;
    const answer = new StreamedAnswer(
      outcome.body,
      (how) => {
        this.#state = how === 'delivered' ? 'ended' : 'gone';
        if (how === 'delivered' && closes && this.shared.draining) this.shared.lastAnswers++;
        this.#exchange = undefined;
        this.#streamed = undefined;
        this.shared.gateway.streamed(x, outcome, how);
      },
      (error) => this.broke('stream', error),
    );
    const writer = this.openStream(head, closes, answer);
    this.#state = 'streaming';
    this.#streamed = answer;
    answer.begin(writer);
  }

  /** A reply that waits for a later turn is charged only then: its caller may leave before. */
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
      handed = this.#body.pending ? this.#answerAndDrop(held.message) : this.#finish(held.message, true);
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
    this.#body.release();
    const written = this.write(answer, closes);
    this.#held = undefined;
    this.#exchange = undefined;
    return written ? 'written' : 'gone';
  }

  /** The caller has gone, or the connection was cut. */
  gone(): void {
    if (this.#state === 'streaming') return this.#streamed?.gone();
    clearTimeout(this.#dropping);
    this.#dropping = undefined;
    if (this.#state !== 'open') return;
    this.#state = 'gone';
    this.#body.drop();
    this.#body.release();
    if (this.#held !== undefined) return this.#tell(this.#held, false);
    try {
      if (this.#exchange !== undefined) this.shared.gateway.abort(this.#exchange);
    } catch (error) {
      this.broke('abort', error);
    }
  }

  /** The listener's own code threw: the request is answered, and the process goes on. */
  broke(where: string, error: unknown): void {
    this.shared.gateway.fail(this.#exchange, this.head, this, `listener.${where}`, error);
    if (this.#state === 'streaming') return this.#streamed?.broke();
    if (this.#state !== 'open') return;
    this.#state = 'gone';
    this.#body.release();
    this.cut();
  }
}
