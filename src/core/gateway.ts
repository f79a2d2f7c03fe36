// The core's interface for listeners: opens exchanges, enforces deadlines, tracks those in flight.
import { Exchange, InFlight, LONG_BODY_BYTES } from './exchange.ts';
import type { Body, RequestHead, Sink } from './exchange.ts';
import { CLIENT_CLOSED } from './outcome.ts';
import type { Refusal, Reply, StreamReply } from './outcome.ts';
import { Pipeline } from './pipeline.ts';
import type { BugReport, Step } from './pipeline.ts';
import { refuse } from './problem.ts';
import type { ProblemForm } from './problem.ts';
import { compileRoute } from './route.ts';
import type { Route } from './route.ts';
import type { Router } from './router.ts';
import { isTooSlow, SLOW_MS, surplus, UNFINISHED_MS } from './unfinished-bodies.ts';
import type { UnfinishedBodies } from './unfinished-bodies.ts';

interface GatewayOptions {
  readonly router: Router;
  /** Steps that also see requests refused before routing (the access log). */
  readonly around: readonly Step[];
  /** Generates request ids (ULIDs). */
  readonly newId: () => string;
  /** A monotonic clock in milliseconds. */
  readonly now: () => number;
  /** Limit from the request's first byte to its answer; then it is refused and cancelled. */
  readonly requestMs: number;
  readonly reportBug: BugReport;
  /** `undefined` puts no limit on slowly arriving bodies beyond the number of connections. */
  readonly unfinished?: UnfinishedBodies;
}

const DEADLINE_TICK_MS = 250;

export class Gateway {
  readonly router: Router;
  /** Lower-case names of the request fields that listeners copy. */
  readonly headersRead: ReadonlySet<string>;
  /** Of streamed bodies, the part of the deadline that does not depend on their length. */
  readonly requestMs: number;
  readonly #options: GatewayOptions;
  readonly #pipeline: Pipeline;
  readonly #refused: Route;
  readonly #refusedInForm = new Map<ProblemForm, Route>();
  readonly open = new InFlight();
  readonly #ticker: NodeJS.Timeout;

  constructor(options: GatewayOptions) {
    this.router = options.router;
    this.headersRead = headersOf(options.router.routes);
    this.requestMs = options.requestMs;
    this.#options = options;
    this.#refused = compileRoute({ method: '*', path: '*', takesBody: false, steps: options.around }, 'refused');
    this.#pipeline = new Pipeline(options.reportBug, this.open);
    this.#ticker = setInterval(() => this.#expire(), DEADLINE_TICK_MS);
    this.#ticker.unref();
  }

  get inFlight(): number {
    return this.open.size;
  }

  /**
   * Starts a request. Unless it then has an `outcome`, the listener collects the body for `body`,
   * perhaps calls `longBody`, and `abort` if the caller leaves. `announcedBytes`: 0 if unknown.
   */
  begin(head: RequestHead, sink: Sink, announcedBytes = 0): Exchange {
    const { route, parameter } = this.router.match(head.method, head.path);
    const { newId, now } = this.#options;
    const x = new Exchange(newId(), head, sink, route, now());
    x.pathParameter = parameter;
    x.longBody = route.takesBody && announcedBytes > LONG_BODY_BYTES;
    x.driver = this.#pipeline;
    this.open.add(x);
    this.#pipeline.advance(x);
    return x;
  }

  /** Passes on the complete body, or why there is none. */
  body(x: Exchange, body: Body): void {
    if (x.outcome !== undefined || x.stage !== 'arriving') return;
    x.body = body;
    x.stage = 'whole';
    if (!x.waiting) this.#pipeline.advance(x);
  }

  /** More than `LONG_BODY_BYTES` of a body of unknown length have arrived. Called before `body`. */
  longBody(x: Exchange): void {
    if (x.outcome !== undefined || x.longBody || x.stage !== 'arriving') return;
    x.longBody = true;
    this.#pipeline.longBody(x);
  }

  /** The caller has left: work in flight is cancelled, the chain settled after the pending step. */
  abort(x: Exchange): void {
    if (x.outcome !== undefined) return;
    x.answered = true;
    x.cancel(CLIENT_CLOSED);
    if (!x.waiting) this.#pipeline.end(x, CLIENT_CLOSED);
  }

  /** Reports the result for a held answer: `written`, or not, because the caller disconnected. */
  sent(x: Exchange, outcome: Reply, written: boolean): void {
    this.#pipeline.settle(x, written ? outcome : CLIENT_CLOSED);
  }

  /** A streamed answer has ended: delivered, its source failed, or the caller disconnected. */
  streamed(x: Exchange, outcome: StreamReply, how: 'delivered' | 'broken' | 'gone'): void {
    switch (how) {
      case 'delivered':
        return this.#pipeline.settle(x, outcome);
      case 'broken':
        return this.#pipeline.settle(x, outcome.broken);
      case 'gone':
        return this.#pipeline.settle(x, CLIENT_CLOSED);
    }
  }

  /** Refuses a request with broken framing, without its chain, in the form of the API it is for. */
  refuse(head: RequestHead, sink: Sink, refusal: Refusal): Exchange {
    const x = this.#openRefused(head, sink);
    this.#pipeline.end(x, refusal);
    return x;
  }

  /** Ends a request whose body is malformed, or that must stop; its connection is closed. */
  callOff(x: Exchange, refusal: Refusal): void {
    x.closeAfter = true;
    if (!x.waiting) {
      this.#pipeline.end(x, refusal);
      return;
    }
    if (x.answered) return;
    this.#pipeline.send(x, refusal);
    x.cancel(refusal);
  }

  /** A listener's code threw: reports the bug, and sends `internal_error` if nothing was sent. */
  fail(x: Exchange | undefined, head: RequestHead, sink: Sink, where: string, error: unknown): void {
    const failed = x ?? this.#openRefused(head, sink);
    this.callOff(failed, this.#pipeline.bug(failed, where, error));
  }

  /** Resolves when nothing is in flight. */
  idle(): Promise<void> {
    return this.open.idle();
  }

  close(): void {
    clearInterval(this.#ticker);
  }

  #expire(): void {
    const nowMs = this.#options.now();
    for (const x of this.open.startedBy(nowMs - this.requestMs)) {
      if (!x.answered && !x.ownDeadline) this.#giveUp(x);
    }
    if (this.#options.unfinished !== undefined) this.#boundBodies(this.#options.unfinished, nowMs);
  }

  #boundBodies(unfinished: UnfinishedBodies, nowMs: number): void {
    for (const x of this.open.startedBy(nowMs - SLOW_MS)) if (isTooSlow(x, nowMs, unfinished)) this.#giveUp(x);
    if (this.open.size <= unfinished.max) return;
    for (const x of surplus(this.open.startedBy(nowMs - UNFINISHED_MS), unfinished)) this.callOff(x, unfinished.refusal);
  }

  #giveUp(x: Exchange): void {
    const refusal = x.waiting
      ? refuse('internal_error', 'The request took too long; it was not charged.')
      : refuse('validation_error', 'body: it did not arrive in time; send it faster or send less.');
    this.callOff(x, refusal);
  }

  #openRefused(head: RequestHead, sink: Sink): Exchange {
    const { problemForm } = this.router.match(head.method, head.path).route;
    const route = problemForm === undefined ? this.#refused : this.#refusedIn(problemForm);
    const { newId, now } = this.#options;
    const x = new Exchange(newId(), head, sink, route, now());
    x.closeAfter = true;
    // Makes `settle` run for these steps as if they had run.
    x.reached = route.steps.length;
    this.open.add(x);
    return x;
  }

  /** One for each API. */
  #refusedIn(problemForm: ProblemForm): Route {
    const known = this.#refusedInForm.get(problemForm) ?? compileRoute({ ...this.#refused, problemForm }, this.#refused.name);
    this.#refusedInForm.set(problemForm, known);
    return known;
  }
}

function headersOf(routes: readonly Route[]): ReadonlySet<string> {
  const names = new Set<string>();
  for (const route of routes) {
    for (const step of route.steps) {
      for (const name of step.headers ?? []) names.add(name);
    }
  }
  return names;
}
