// A step of the chain: runs in order, may end it, and is settled in reverse after its end.
import type { Exchange } from './exchange.ts';
import type { Outcome, StepResult } from './outcome.ts';

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
