// One operation in the queue of the group commit: its work, and the answer after the COMMIT.
import type { StoreUnavailable } from '../../domain/store-unavailable.ts';

/** Exactly one of `settle` and `fail` is called, later than the operation was queued; neither may throw. */
export interface QueuedOperation {
  /** After this it is not begun any more, by the monotonic clock; set when it is queued. */
  deadlineMs: number;
  /** Inside the transaction. Keeps the result; throws what the work throws. */
  run(): void;
  /** The work threw: the error becomes this operation's answer, and no other's. */
  blame(error: unknown): void;
  /** After the COMMIT: answers. */
  settle(): void;
  /** Instead of a COMMIT: answers that nothing was done. */
  fail(unavailable: StoreUnavailable): void;
}

/** One that a promise waits for. */
export class PromisedOperation<T> implements QueuedOperation {
  deadlineMs = 0;
  readonly promise: Promise<T | StoreUnavailable>;
  readonly #work: () => T;
  #resolve!: (result: T | StoreUnavailable) => void;
  #reject!: (error: unknown) => void;
  #result: T | undefined = undefined;
  #error: unknown = undefined;
  #isBlamed = false;

  constructor(work: () => T) {
    this.#work = work;
    this.promise = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  run(): void {
    this.#result = this.#work();
  }

  blame(error: unknown): void {
    this.#isBlamed = true;
    this.#error = error;
  }

  settle(): void {
    if (this.#isBlamed) this.#reject(this.#error);
    else this.#resolve(this.#result as T);
  }

  fail(unavailable: StoreUnavailable): void {
    this.#resolve(unavailable);
  }
}
