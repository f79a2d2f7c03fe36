// Steps, and what runs a chain of them: one loop that waits only for real promises or `LATER`, then
// settles in reverse.
import type { Conclude, Exchange, InFlight } from './exchange.ts';
import { CLIENT_CLOSED, LATER, NO_HEADERS } from './outcome.ts';
import type { Outcome, Refusal, Reply, StepResult, StreamReply } from './outcome.ts';
import { refuse } from './problem.ts';

interface StepBase {
  /** Unique within a chain; plugins refer to it in `after`. */
  readonly name: string;
  /** Lower-case names of the request fields that the step reads; others are not copied. */
  readonly headers?: readonly string[];
  /**
   * Called once for every step that was started, last one first, however the chain ended. Must not
   * wait. A throw is logged and does not stop the others.
   */
  settle?(x: Exchange, outcome: Outcome): void;
  /**
   * Called once, if the step was started, after all caller steps, when the body is complete: so no
   * unknown caller or unfinished request holds its resources. An outcome ends the chain.
   */
  enter?(x: Exchange): Outcome | undefined;
  /**
   * Called as soon as the caller steps have run, and again before `enter`: the outcome with which
   * the step would certainly end the chain. Saves the work of the steps in between.
   */
  foresee?(x: Exchange): Outcome | undefined;
}

/** Decides from the request head alone and cannot wait; comes before all other kinds. */
export interface HeadStep extends StepBase {
  readonly kind: 'head';
  /** `undefined` continues, an outcome ends the chain, a throw is a bug: `internal_error`. */
  run(x: Exchange): Outcome | undefined;
}

/**
 * Identifies and authorizes the caller while the body is still arriving: a refusal is sent right
 * after the head, and the rest of the body is dropped.
 */
export interface CallerStep extends StepBase {
  readonly kind: 'caller';
  run(x: Exchange): StepResult | Promise<StepResult>;
  /**
   * Called after `run`, while a body arrives that turns out to be long. Returns the same as `run`.
   */
  longBody?(x: Exchange): StepResult | Promise<StepResult>;
}

/** Runs when the body is complete; waits only if it returns a promise or `LATER`. */
export interface BodyStep extends StepBase {
  readonly kind: 'body';
  run(x: Exchange): StepResult | Promise<StepResult>;
}

export type Step = HeadStep | CallerStep | BodyStep;

/** Called for every bug that surfaced as a throw; the caller only ever sees `internal_error`. */
export type BugReport = (x: Exchange, where: string, error: unknown) => void;

export class Pipeline {
  readonly #reportBug: BugReport;
  readonly #open: InFlight;

  /** An exchange is removed from `open` once it is settled. */
  constructor(reportBug: BugReport, open: InFlight) {
    this.#reportBug = reportBug;
    this.#open = open;
  }

  /** The awaited body is long. Pending and later steps read `longBody` themselves. */
  longBody(x: Exchange): void {
    const step = x.route.forLongBody;
    if (step === undefined || x.waiting || x.stage !== 'arriving') return;
    let result;
    try {
      result = step.longBody!(x);
    } catch (error) {
      result = this.bug(x, step.name, error);
    }
    if (result !== undefined) this.#stop(x, step, result);
  }

  /**
   * Runs the chain to the first step that needs the body, if it is not complete, or to the end. If
   * it ends synchronously, `x.outcome` is set afterwards.
   */
  advance(x: Exchange): void {
    const { steps, headCount, entryAt, entering } = x.route;
    if (x.stage !== 'entered') {
      const isWhole = x.stage === 'whole';
      if (!this.#drive(x, headCount) || (isWhole && !this.#drive(x, entryAt))) return;
      if (this.#foreseen(x) || !isWhole) return;
      x.stage = 'entered';
      for (const step of entering) {
        let outcome;
        try {
          outcome = step.enter!(x);
        } catch (error) {
          outcome = this.bug(x, step.name, error);
        }
        if (outcome !== undefined) return this.#finish(x, outcome);
      }
    }
    if (this.#drive(x, steps.length)) {
      this.#finish(x, this.bug(x, x.route.name, new Error('the chain ended without an answer')));
    }
  }

  /** Ends a chain that runs no step: one that awaits its body, or was refused before its first. */
  end(x: Exchange, outcome: Outcome): void {
    if (x.outcome === undefined) this.#finish(x, outcome);
  }

  /** Whether the chain has ended, because a later step can only end it. */
  #foreseen(x: Exchange): boolean {
    const step = x.route.foreseeing;
    if (step === undefined) return false;
    let outcome;
    try {
      outcome = step.foresee!(x);
    } catch (error) {
      outcome = this.bug(x, step.name, error);
    }
    if (outcome === undefined) return false;
    this.#finish(x, outcome);
    return true;
  }

  /** Runs the steps before `until`. Returns false if the chain has ended or is waiting. */
  #drive(x: Exchange, until: number): boolean {
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
      this.#stop(x, step, result);
      return false;
    }
    return true;
  }

  #stop(x: Exchange, step: Step, result: Exclude<StepResult, undefined> | Promise<StepResult>): void {
    if (result === LATER) x.waiting = true;
    else if (result instanceof Promise) this.#wait(x, step.name, result);
    else this.#finish(x, result);
  }

  /** The only place that turns a step's promise into a callback. */
  #wait(x: Exchange, stepName: string, pending: Promise<StepResult>): void {
    x.waiting = true;
    pending.then(
      (result) => this.resume(x, () => result, undefined),
      (error: unknown) => this.resume(x, () => this.bug(x, stepName, error), undefined),
    );
  }

  resume<T>(x: Exchange, conclude: Conclude<T>, value: T): void {
    const { name } = x.route.steps[x.reached - 1]!;
    let outcome;
    try {
      outcome = conclude(x, value);
    } catch (error) {
      outcome = this.bug(x, name, error);
    }
    // The step waits again, for example for the engine after its glossary.
    if (outcome === LATER) return;
    if (outcome instanceof Promise) return this.#wait(x, name, outcome);
    x.waiting = false;
    // Settled only now, because the pending step may have made a reservation meanwhile.
    if (x.calledOff !== undefined) {
      if (outcome?.kind === 'stream') outcome.body.destroy();
      this.#finish(x, x.calledOff);
    } else if (outcome !== undefined) this.#finish(x, outcome);
    else this.advance(x);
  }

  /** The answer is written first. If that fails, another is sent, which `settle` receives. */
  #finish(x: Exchange, outcome: Outcome): void {
    x.outcome = outcome;
    x.onCancel(undefined);
    if ((outcome as Outcome | null) === null) return this.#malformed(x);
    switch (outcome.kind) {
      case 'reply':
      case 'problem': {
        const sent = this.send(x, outcome);
        if (sent !== undefined) this.settle(x, sent);
        return;
      }
      case 'stream':
        return this.#stream(x, outcome);
      case 'client_closed':
        return this.settle(x, outcome);
      default:
        this.#malformed(x);
    }
  }

  /** A plugin's step returned, against its type, what would never be answered. */
  #malformed(x: Exchange): void {
    const where = x.route.steps[x.reached - 1]?.name ?? x.route.name;
    this.#finish(x, this.bug(x, where, new TypeError('the step returned what is no outcome')));
  }

  /** Settles the steps that were started, last one first. Once per exchange. */
  settle(x: Exchange, sent: Outcome): void {
    const steps = x.route.steps;
    for (let i = x.reached - 1; i >= 0; i--) {
      const step = steps[i]!;
      if (step.settle === undefined) continue;
      try {
        step.settle(x, sent);
      } catch (error) {
        this.bug(x, `${step.name}.settle`, error);
      }
    }
    this.#open.remove(x);
  }

  /** Settled at the end of the stream. */
  #stream(x: Exchange, outcome: StreamReply): void {
    x.answered = true;
    try {
      x.sink.stream(x, outcome);
    } catch (error) {
      (outcome as Partial<StreamReply>).body?.destroy();
      this.settle(x, this.#sendBug(x, error));
    }
  }

  /**
   * Hands an answer to the sink, once. Returns what was sent: `internal_error` if the sink failed
   * to write this one, which is a bug; `undefined` if it is held.
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

  /** Reports a bug and returns the refusal for the caller. */
  bug(x: Exchange, where: string, error: unknown): Refusal {
    this.#reportBug(x, where, error);
    return refuse('internal_error', 'Something unexpected failed on our side; the request was not charged.');
  }
}
