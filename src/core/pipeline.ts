// Drives a chain: one loop over a fixed array that waits only for a real promise, then settles in reverse.
import type { Driver, Exchange } from './exchange.ts';
import { CLIENT_CLOSED, NO_HEADERS } from './outcome.ts';
import type { Outcome, Refusal, Reply, StreamReply } from './outcome.ts';
import { refuse } from './problem.ts';
import { LATER } from './step.ts';

/** Told of every bug that surfaced as a throw; the caller only ever sees `internal_error`. */
export type BugReport = (x: Exchange, where: string, error: unknown) => void;

export class Pipeline implements Driver {
  readonly #reportBug: BugReport;
  readonly #onDone: (x: Exchange) => void;

  constructor(reportBug: BugReport, onDone: (x: Exchange) => void) {
    this.#reportBug = reportBug;
    this.#onDone = onDone;
  }

  /** Runs the head steps; afterwards `x.outcome` tells whether the chain has ended. */
  runHead(x: Exchange): void {
    x.driver = this;
    this.#drive(x, x.route.headCount);
  }

  /** Runs what is left. Called once the body is complete, or at once when the route takes none. */
  runBody(x: Exchange): void {
    const steps = x.route.steps;
    this.#drive(x, steps.length);
    if (x.outcome === undefined && !x.waiting) {
      this.#finish(x, this.bug(x, x.route.name, new Error('the chain ended without an answer')));
    }
  }

  /** Ends a chain that is not running a step: waiting for its body, or refused before its first step. */
  end(x: Exchange, outcome: Outcome): void {
    if (x.outcome === undefined) this.#finish(x, outcome);
  }

  #drive(x: Exchange, until: number): void {
    const steps = x.route.steps;
    while (x.reached < until) {
      const step = steps[x.reached]!;
      x.reached++;
      let result;
      try {
        result = step.run(x);
      } catch (error) {
        result = this.bug(x, step.name, error);
      }
      if (result === undefined) continue;
      if (result === LATER) {
        x.waiting = true;
        return;
      }
      if (result instanceof Promise) {
        this.#wait(x, step.name, result);
        return;
      }
      this.#finish(x, result);
      return;
    }
  }

  #wait(x: Exchange, stepName: string, pending: Promise<Outcome | undefined>): void {
    x.waiting = true;
    pending.then(
      (outcome) => this.#resume(x, outcome),
      (error: unknown) => this.#resume(x, this.bug(x, stepName, error)),
    );
  }

  resume<T>(x: Exchange, conclude: (x: Exchange, value: T) => Outcome | undefined, value: T): void {
    let outcome;
    try {
      outcome = conclude(x, value);
    } catch (error) {
      outcome = this.bug(x, x.route.steps[x.reached - 1]!.name, error);
    }
    this.#resume(x, outcome);
  }

  #resume(x: Exchange, outcome: Outcome | undefined): void {
    x.waiting = false;
    // A request that was cancelled while a step waited is settled only now: the step may have come back with a reservation.
    if (x.cancelled) {
      if (outcome?.kind === 'stream') outcome.body.cancel();
      this.#finish(x, x.calledOffWith ?? CLIENT_CLOSED);
    } else if (outcome !== undefined) this.#finish(x, outcome);
    else this.runBody(x);
  }

  #finish(x: Exchange, outcome: Outcome): void {
    x.outcome = outcome;
    x.onCancel(undefined);
    // The answer is written first. If that fails, another one is written in its place, and `settle` gets that one.
    const told = this.#tell(x, outcome);
    if (told !== undefined) this.settle(x, told);
  }

  /** What the caller was answered; `undefined` for an answer that is streamed or waits: `settle` is called at its end. */
  #tell(x: Exchange, outcome: Outcome): Outcome | undefined {
    switch (outcome.kind) {
      case 'reply':
      case 'problem':
        return this.send(x, outcome);
      case 'stream':
        return this.#stream(x, outcome);
      case 'client_closed':
        return outcome;
    }
  }

  /** Settles the steps that were reached, last one first. Once per exchange. */
  settle(x: Exchange, told: Outcome): void {
    const steps = x.route.steps;
    for (let i = x.reached - 1; i >= 0; i--) {
      const step = steps[i]!;
      if (step.settle === undefined) continue;
      try {
        step.settle(x, told);
      } catch (error) {
        this.bug(x, `${step.name}.settle`, error);
      }
    }
    this.#onDone(x);
  }

  #stream(x: Exchange, outcome: StreamReply): Outcome | undefined {
    x.answered = true;
    try {
      x.sink.stream(x, outcome);
      return undefined;
    } catch (error) {
      outcome.body.cancel();
      return this.#sendBug(x, error);
    }
  }

  /**
   * Hands an answer to the sink, once, and returns the answer that was written: `internal_error` where the sink could not
   * write this one, which is a bug; `undefined` where it waits for its turn.
   */
  send(x: Exchange, outcome: Reply | Refusal): Outcome | undefined {
    if (x.answered) return outcome;
    x.answered = true;
    try {
      const handed = x.sink.send(x, outcome);
      if (handed === 'written') return outcome;
      return handed === 'held' ? undefined : CLIENT_CLOSED;
    } catch (error) {
      return this.#sendBug(x, error);
    }
  }

  #sendBug(x: Exchange, error: unknown): Refusal {
    const refusal = this.bug(x, 'send', error);
    // These headers may be what could not be written.
    x.responseHeaders = NO_HEADERS;
    try {
      x.sink.send(x, refusal);
    } catch (again) {
      this.#reportBug(x, 'send', again);
    }
    return refusal;
  }

  /** Reports a bug and returns what the caller is answered. */
  bug(x: Exchange, where: string, error: unknown): Refusal {
    this.#reportBug(x, where, error);
    return refuse('internal_error', 'Something unexpected failed on our side; the request was not charged.');
  }
}
