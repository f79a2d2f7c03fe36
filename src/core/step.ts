// A step of the chain: runs in order, may end it, and is settled in reverse after the chain has ended.
import type { Exchange } from './exchange.ts';
import type { Outcome, StepResult } from './outcome.ts';

interface StepBase {
  /** Unique within a chain; plugins refer to it in `after`. */
  readonly name: string;
  /** Lower-case names of the request fields that the step reads; others are not copied. */
  readonly headers?: readonly string[];
  /**
   * Called once for every step that was started, last one first, however the chain ended. Must not wait: longer work goes to
   * something that outlives the request. A throw is logged and does not stop the others.
   */
  settle?(x: Exchange, outcome: Outcome): void;
  /**
   * Called once, if the step was started, after all caller steps have run and the body, if the route takes one, is complete.
   * Resources acquired here are never held by unknown callers or unfinished requests. An outcome ends the chain.
   */
  enter?(x: Exchange): Outcome | undefined;
  /**
   * Called before a body is waited for, and again before `enter`, as soon as the caller steps until there have run: whether the
   * step, if it were reached, would certainly end the chain, and with which outcome. Saves the work of the steps in between.
   */
  foresee?(x: Exchange): Outcome | undefined;
}

/** Decides from the request head alone and cannot wait; comes before all other kinds. */
export interface HeadStep extends StepBase {
  readonly kind: 'head';
  /** `undefined` continues; an outcome ends the chain; a throw is a bug and becomes `internal_error`. */
  run(x: Exchange): Outcome | undefined;
}

/**
 * Identifies and authorizes the caller. Before all body steps, it runs while the body is still arriving, so a refusal is sent
 * right after the head and the rest of the body is dropped.
 */
export interface CallerStep extends StepBase {
  readonly kind: 'caller';
  run(x: Exchange): StepResult | Promise<StepResult>;
  /**
   * Called after `run`, before the body is complete, if the body turns out to be long (`Exchange.longBody`). Returns the same
   * as `run`.
   */
  longBody?(x: Exchange): StepResult | Promise<StepResult>;
}

/** For `Exchange.resume` with a thrown error: a bug, which becomes `internal_error`. */
export function throwOn(_x: Exchange, error: unknown): never {
  throw error;
}

/** Runs when the body is complete; waits only if it returns a promise or `LATER`. */
export interface BodyStep extends StepBase {
  readonly kind: 'body';
  run(x: Exchange): StepResult | Promise<StepResult>;
}

export type Step = HeadStep | CallerStep | BodyStep;
