// A store that cannot serve: as a value, which every port answers instead of failing, and as the errors that opening one throws.

/** Its message is one line, names the store without credentials, and says what to do. Never shown to API callers. */
export class StoreError extends Error {
  override name = 'StoreError';
}

/** The store does not answer, and may yet: whoever can wait may try again. */
export class StoreAwayError extends StoreError {}

/** There is no store at the place that was named, and this program may not make one there. */
export class NoStoreError extends StoreError {
  /** The place, as a person would look for it; without credentials. */
  readonly place: string;

  constructor(place: string) {
    super(`there is no store at ${place} yet`);
    this.place = place;
  }
}

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

/**
 * A store into which a copy has begun and not ended has these instead of its schema's number (the highest there is) or its
 * layout's, so that whatever opens it refuses it, older versions too.
 */
export const HALF_WRITTEN_SCHEMA = 2_147_483_647;
export const HALF_WRITTEN_LAYOUT = 'half-written';

/** `shown` is without credentials. */
export function halfWritten(shown: string): StoreError {
  return new StoreError(
    `the store ${shown} is half-written: a copy into it has not ended; repeat that "lingate store copy" with --restart, or name another store`,
  );
}
