// A link of the chain: runs in order, may end it, and is settled in reverse when the chain has ended.
import type { Exchange } from './exchange.ts';
import type { Outcome, StepResult } from './outcome.ts';

interface StepBase {
  /** Unique within a chain; what a plugin names in `after`. */
  readonly name: string;
  /** Lower-case names of the request fields that the step reads; others are not copied. */
  readonly headers?: readonly string[];
  /**
   * Runs once for every step that was started, last one first, whatever ended the chain. Must not wait: what takes
   * longer is handed to something that outlives the request. A throw is logged and does not stop the others.
   */
  settle?(x: Exchange, outcome: Outcome): void;
  /**
   * Runs once, if the step was started: when all caller steps have run and the body, where the route takes one, has come. What
   * is acquired here is held by nobody who is unknown or has not sent all. An outcome ends the chain.
   */
  enter?(x: Exchange): Outcome | undefined;
}

/** Decides on the request head alone and cannot wait; stands before all others. */
export interface HeadStep extends StepBase {
  readonly kind: 'head';
  /** `undefined` goes on; an outcome ends the chain; a throw is a bug and becomes `internal_error`. */
  run(x: Exchange): Outcome | undefined;
}

/**
 * Finds out who calls, and whether they may. Where it stands before all body steps it runs before the body is read, which
 * arrives while it waits; what is refused is refused at the head, and the rest of the body is dropped.
 */
export interface CallerStep extends StepBase {
  readonly kind: 'caller';
  run(x: Exchange): StepResult | Promise<StepResult>;
  /** Called behind `run` and before the body is complete, when that turns out to be long (`Exchange.longBody`). Answers as `run` does. */
  longBody?(x: Exchange): StepResult | Promise<StepResult>;
}

/** For `Exchange.resume` with what was thrown: a bug, which becomes `internal_error`. */
export function throwOn(_x: Exchange, error: unknown): never {
  throw error;
}

/** Runs when the body is complete; waits only where it returns a promise or `LATER`. */
export interface BodyStep extends StepBase {
  readonly kind: 'body';
  run(x: Exchange): StepResult | Promise<StepResult>;
}

export type Step = HeadStep | CallerStep | BodyStep;
