// One operation in the queue of the group commit: its work, and the promise that waits for the COMMIT.
import type { Cause } from './store-fault.ts';

export interface Grouped {
  /** When it is too late to begin with it, by the monotonic clock. */
  readonly deadlineMs: number;
  /** Inside the transaction. Keeps the result; throws what the work throws. */
  run(): void;
  /** The work threw: this alone is to be the answer to it. */
  blame(error: unknown): void;
  /** After the COMMIT: answers. */
  settle(): void;
  /** Instead of a COMMIT: answers that nothing was done. */
  fail(cause: Cause): void;
}

export class GroupedWork<T> implements Grouped {
  readonly deadlineMs: number;
  readonly #work: () => T;
  readonly #onFailure: (cause: Cause) => T;
  readonly #resolve: (result: T) => void;
  readonly #reject: (error: unknown) => void;
  #settle: () => void = () => undefined;

  constructor(
    work: () => T,
    onFailure: (cause: Cause) => T,
    resolve: (result: T) => void,
    reject: (error: unknown) => void,
    deadlineMs: number,
  ) {
    this.#work = work;
    this.#onFailure = onFailure;
    this.#resolve = resolve;
    this.#reject = reject;
    this.deadlineMs = deadlineMs;
  }

  run(): void {
    const result = this.#work();
    this.#settle = () => this.#resolve(result);
  }

  blame(error: unknown): void {
    this.#settle = () => this.#reject(error);
  }

  settle(): void {
    this.#settle();
  }

  fail(cause: Cause): void {
    try {
      this.#resolve(this.#onFailure(cause));
    } catch (error) {
      this.#reject(error);
    }
  }
}
