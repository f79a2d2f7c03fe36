// A store that cannot serve: as a value returned by every port, and as the errors thrown when opening one.

/** The message is one line that names the store without credentials and says what to do. Never shown to API callers. */
export class StoreError extends Error {
  override name = 'StoreError';
}

/** The store does not answer at the moment; opening it may be retried. */
export class StoreAwayError extends StoreError {}

/** There is no store at the given location, and this program may not create one. */
export class NoStoreError extends StoreError {
  /** The location in a form that people can find; without credentials. */
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

/** Causes of a store that answers but rejects writes. With any other cause the store may not be reachable at all. */
const TAKES_NO_WRITES: ReadonlySet<string> = new Set(
  // First those of Redis, then those of SQLite.
  ['oom', 'readonly', 'noreplicas', 'misconf', 'full', 'read_only', 'vanished', 'replaced'],
);

export function takesNoWrites(cause: string): boolean {
  return TAKES_NO_WRITES.has(cause);
}

/** For the result of a port, where nothing else has this `kind`. */
export function isUnavailable(answer: unknown): answer is StoreUnavailable {
  return typeof answer === 'object' && answer !== null && 'kind' in answer && answer.kind === 'unavailable';
}

/** Carries the answer to `answering`, which returns it. */
class UnansweredError extends StoreError {
  readonly answer: StoreUnavailable;

  constructor(answer: StoreUnavailable) {
    super(answer.advice ?? `the store did not answer (${answer.cause}): check that it is running`);
    this.answer = answer;
  }
}

/** For programs that fail by throwing, such as the command line: the result, or a `StoreError` with the advice. */
export function answered<T>(answer: T): Exclude<T, StoreUnavailable> {
  if (isUnavailable(answer)) throw storeErrorOf(answer);
  return answer as Exclude<T, StoreUnavailable>;
}

export function storeErrorOf(answer: StoreUnavailable): StoreError {
  return new UnansweredError(answer);
}

/** For an operation of several calls: returns the result, or the first unavailable answer that `answered` throws. */
export async function answering<T>(work: () => Promise<T>): Promise<T | StoreUnavailable> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof UnansweredError) return error.answer;
    throw error;
  }
}

/** `shown` contains no credentials. */
export function halfWritten(shown: string): StoreError {
  return new StoreError(
    `the store ${shown} is half-written: a copy into it has not ended; repeat that "lingate store copy" with --restart, or name another store`,
  );
}
