// One operation in the queue of the group commit: its work, and the promise that waits for the COMMIT.
import type { StoreUnavailable } from '../../domain/store-unavailable.ts';

/** An operation whatever it answers. */
export type AnyOperation = Pick<QueuedOperation<unknown>, 'deadlineMs' | 'run' | 'blame' | 'settle' | 'fail'>;

export class QueuedOperation<T> {
  /** When it is too late to begin with it, by the monotonic clock. */
  readonly deadlineMs: number;
  readonly promise: Promise<T | StoreUnavailable>;
  readonly #work: () => T;
  #resolve!: (result: T | StoreUnavailable) => void;
  #reject!: (error: unknown) => void;
  #result: T | undefined = undefined;
  #error: unknown = undefined;
  #isBlamed = false;

  constructor(work: () => T, deadlineMs: number) {
    this.deadlineMs = deadlineMs;
    this.#work = work;
    this.promise = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  /** Inside the transaction. Keeps the result; throws what the work throws. */
  run(): void {
    this.#result = this.#work();
  }

  /** The work threw: this alone is to be the answer to it. */
  blame(error: unknown): void {
    this.#isBlamed = true;
    this.#error = error;
  }

  /** After the COMMIT: answers. */
  settle(): void {
    if (this.#isBlamed) this.#reject(this.#error);
    else this.#resolve(this.#result as T);
  }

  /** Instead of a COMMIT: answers that nothing was done. */
  fail(unavailable: StoreUnavailable): void {
    this.#resolve(unavailable);
  }
}
