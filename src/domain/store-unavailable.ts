// A store that cannot serve, as a value: every port answers it instead of failing. And the one way to make an error of it.
import { StoreError } from './store-error.ts';

/** The store cannot be reached, took too long, or has no room. */
export interface StoreUnavailable {
  readonly kind: 'unavailable';
  /** A short word for logs, never for callers. */
  readonly cause: string;
  /** One line for operators: names the store without credentials and says what to do. */
  readonly advice?: string;
}

/** The causes of a store that answers and takes no writes. Any other cause leaves open whether it is there at all. */
const TAKES_NO_WRITES: ReadonlySet<string> = new Set(
  // Redis's words, then SQLite's.
  ['oom', 'readonly', 'noreplicas', 'misconf', 'full', 'read_only', 'vanished', 'replaced'],
);

export function takesNoWrites(cause: string): boolean {
  return TAKES_NO_WRITES.has(cause);
}

/** For what a port has answered. Nothing else that a port answers has this `kind`. */
export function isUnavailable(answer: unknown): answer is StoreUnavailable {
  return typeof answer === 'object' && answer !== null && 'kind' in answer && answer.kind === 'unavailable';
}

/** Of answers that were asked for together: all of them, or the first that is `unavailable`. */
export function allAnswered<T>(answers: readonly T[]): readonly Exclude<T, StoreUnavailable>[] | StoreUnavailable {
  return answers.find((answer) => isUnavailable(answer)) ?? (answers as readonly Exclude<T, StoreUnavailable>[]);
}

/** For programs whose way of ending is an error, like the command line: the answer, or a `StoreError` with the advice. */
export function answered<T>(answer: T): Exclude<T, StoreUnavailable> {
  if (isUnavailable(answer)) throw storeErrorOf(answer);
  return answer as Exclude<T, StoreUnavailable>;
}

export function storeErrorOf({ cause, advice }: StoreUnavailable): StoreError {
  return new StoreError(advice ?? `the store gave no answer (${cause}): see that it runs`);
}
