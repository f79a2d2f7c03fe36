// One request on a connection, whichever library carries it: its body, its answer, and when the connection has to end.
import type { Body, Exchange, RequestHead, Sink } from '../core/exchange.ts';
import type { Refusal, Reply } from '../core/outcome.ts';
import { refuse } from '../core/problem.ts';
import { BodyCollector, DROP_FACTOR } from './body.ts';
import type { FramingGuard } from './framing.ts';
import type { Desk } from './listener.ts';
import { compose } from './write.ts';
import type { Answer } from './write.ts';

/** How long an answer that ends the connection waits for a body that is still arriving. */
const LINGER_MS = 5_000;

export const NO_HEAD: RequestHead = { method: '', path: '', query: '', headers: {} };

export abstract class Call implements Sink {
  protected readonly desk: Desk;
  protected head: RequestHead = NO_HEAD;
  #exchange: Exchange | undefined = undefined;
  #state: 'open' | 'ended' | 'gone' = 'open';
  /** Nothing behind this request may be handled. */
  #closes = false;
  #refusing = false;
  /** Set while a body is still arriving, wanted or not. */
  #body: BodyCollector | undefined = undefined;
  #held: Answer | undefined = undefined;
  #linger: NodeJS.Timeout | undefined = undefined;

  constructor(desk: Desk) {
    this.desk = desk;
  }

  /** Writes the answer, all at once. Called at most once, never after the caller has gone. */
  protected abstract write(answer: Answer, closes: boolean): void;

  /** Ends the connection without an answer. */
  protected abstract cut(): void;

  get isOpen(): boolean {
    return this.#state === 'open';
  }

  get closes(): boolean {
    return this.#closes;
  }

  get bodyPending(): boolean {
    return this.#body !== undefined;
  }

  /** Whether anything waits for the body's end: the chain, or the connection's. For what `begin` has left open. */
  protected get awaitsBody(): boolean {
    return this.#state === 'open' && (this.#closes || this.#held !== undefined || this.#exchange?.route.takesBody === true);
  }

  /** The body is nobody's business any more: the library reads past it. */
  protected passOverBody(): void {
    this.#body = undefined;
  }

  /** Starts the chain. `framing` has been judged. */
  protected begin(head: RequestHead, framing: FramingGuard): void {
    this.#expectBody(head, framing);
    const { gateway } = this.desk;
    const x = this.#remember(gateway.begin(head, this));
    const wanted = x.outcome === undefined && x.route.takesBody;
    if (!wanted) this.#body?.discard();
    else if (this.#body === undefined) gateway.body(x, 'none');
  }

  /** Answers without handling: the framing is broken. */
  protected refuse(head: RequestHead, framing: FramingGuard | undefined, detail: string): void {
    if (framing !== undefined) this.#expectBody(head, framing);
    this.#body?.discard();
    this.head = head;
    this.#closes = true;
    this.#refusing = true;
    this.#remember(this.desk.gateway.refuse(head, this, refuse('validation_error', detail)));
  }

  /** Not when it is answered by now: texts and translations would stay with a connection that only idles. */
  #remember(x: Exchange): Exchange {
    if (this.#state === 'open') this.#exchange = x;
    return x;
  }

  #expectBody(head: RequestHead, framing: FramingGuard): void {
    const { bodyBytesMax } = this.desk;
    this.head = head;
    this.#closes = framing.closes || framing.bodyBytes > bodyBytesMax * DROP_FACTOR;
    if (framing.chunked || framing.bodyBytes > 0) this.#body = new BodyCollector(bodyBytesMax, framing.bodyBytes);
  }

  /** A piece of the body. `borrowed`: its memory is gone when this returns. */
  protected receive(chunk: Uint8Array, borrowed: boolean): void {
    const body = this.#body;
    if (body === undefined || this.#state === 'gone') return;
    body.add(chunk, borrowed);
    if (body.exhausted) this.#bodyOver('too_large');
  }

  protected bodyComplete(): void {
    if (this.#body !== undefined && this.#state !== 'gone') this.#bodyOver(this.#body.take());
  }

  #bodyOver(body: Body): void {
    const x = this.#exchange;
    this.#body = undefined;
    if (body === 'too_large') this.#closes = true;
    if (this.#held !== undefined) this.#releaseSoon();
    else if (x !== undefined && x.outcome === undefined && x.route.takesBody) this.desk.gateway.body(x, body);
  }

  /** The body cannot be read to its end. */
  protected bodyBroken(detail: string): void {
    this.#body = undefined;
    this.#closes = true;
    if (this.#held !== undefined) this.#releaseSoon();
    else if (this.#exchange !== undefined) this.desk.gateway.callOff(this.#exchange, refuse('validation_error', detail));
  }

  /**
   * An answer that ends the connection waits for the body's end, or the caller would be cut off while sending and might
   * never read it; and it is written in a later turn of the event loop: written at once, uWS would go on to handle what
   * stands behind this request. Only what the gateway gave up on (the deadline) is answered and closed at once.
   */
  send(x: Exchange, outcome: Reply | Refusal): void {
    if (this.#state !== 'open') return;
    const answer = compose(outcome, x, this.desk.problems);
    const { draining } = this.desk;
    if (x.closeAfter && !this.#refusing) this.#finish(answer, true);
    else if (this.#closes || (draining && this.#body !== undefined)) this.#hold(answer);
    else this.#finish(answer, false);
  }

  #hold(answer: Answer): void {
    this.#held = answer;
    if (this.#body === undefined) this.#releaseSoon();
    else this.#linger = setTimeout(() => this.#release(), LINGER_MS);
  }

  #releaseSoon(): void {
    clearTimeout(this.#linger);
    setImmediate(() => this.#release());
  }

  #release(): void {
    const answer = this.#held;
    if (this.#state !== 'open' || answer === undefined) return;
    try {
      this.#finish(answer, true);
    } catch (error) {
      this.broke('write', error);
    }
  }

  #finish(answer: Answer, closes: boolean): void {
    this.#state = 'ended';
    if (this.desk.draining) this.desk.lastAnswers++;
    this.write(answer, closes);
    this.#held = undefined;
    this.#exchange = undefined;
  }

  /** The caller has gone, or the connection was cut. */
  gone(): void {
    if (this.#state !== 'open') return;
    this.#state = 'gone';
    this.#body = undefined;
    clearTimeout(this.#linger);
    try {
      if (this.#exchange !== undefined) this.desk.gateway.abort(this.#exchange);
    } catch (error) {
      this.broke('abort', error);
    }
  }

  /** The listener's own code threw: never an unanswered request, never the end of the process. */
  broke(where: string, error: unknown): void {
    this.desk.gateway.fail(this.#exchange, this.head, this, `listener.${where}`, error);
    if (this.#state !== 'open') return;
    this.#state = 'gone';
    this.cut();
  }
}
