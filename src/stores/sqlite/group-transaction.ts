// One transaction for a group of operations: a bug fails only its own operation, a database fault fails all of them.
import type { DatabaseSync } from 'node:sqlite';
import type { StoreUnavailable } from '../../domain/store-unavailable.ts';
import type { Log } from '../../ports/log.ts';
import { prepared } from './statements.ts';
import type { Statements } from './statements.ts';
import { databaseFaultOf } from './store-fault.ts';
import type { Cause } from './store-fault.ts';

/** Rows that operations keep in memory between reading them and the COMMIT. */
export interface WriteBehind {
  /** A transaction has begun. */
  begin(): void;
  /** Writes the changed rows; if it throws, the transaction fails. */
  flush(): void;
  /** The transaction, or a part of it, was rolled back. */
  forget(): void;
}

// IMMEDIATE, because a transaction that reads before it writes would fail midway if another process committed in between.
const SQL = { begin: 'BEGIN IMMEDIATE', commit: 'COMMIT' };

const NOTHING_BEHIND: WriteBehind = { begin: () => undefined, flush: () => undefined, forget: () => undefined };

export class GroupTransaction {
  readonly #database: DatabaseSync;
  readonly #behind: WriteBehind;
  readonly #log: Log;
  readonly #sql: Statements<typeof SQL>;

  constructor(database: DatabaseSync, log: Log, behind: WriteBehind = NOTHING_BEHIND) {
    this.#database = database;
    this.#behind = behind;
    this.#log = log;
    this.#sql = prepared(database, SQL);
  }

  /** `busy` means that nothing was begun, and that a retry may find the lock free. */
  begin(): Cause | undefined {
    try {
      this.#sql.begin.run();
      this.#behind.begin();
      return undefined;
    } catch (error) {
      this.#rollback();
      return databaseFaultOf(error) ?? 'internal';
    }
  }

  /** Runs the group in a transaction that has begun, and ends it. */
  run(group: readonly QueuedOperation[]): Cause | undefined {
    try {
      for (const entry of group) entry.run();
      this.#behind.flush();
      this.#sql.commit.run();
      return undefined;
    } catch (error) {
      this.#rollback();
      const fault = databaseFaultOf(error);
      if (fault !== undefined) return fault;
    }
    return this.#runGuarded(group);
  }

  /** Savepoints cost about a microsecond per operation, so only a group in which one threw pays for them, in a second run. */
  #runGuarded(group: readonly QueuedOperation[]): Cause | undefined {
    const fault = this.begin();
    if (fault !== undefined) return fault;
    try {
      for (const entry of group) {
        this.#database.exec('SAVEPOINT operation');
        try {
          entry.run();
          this.#behind.flush();
        } catch (error) {
          if (databaseFaultOf(error) !== undefined) throw error;
          entry.blame(error);
          this.#behind.forget();
          this.#database.exec('ROLLBACK TO operation');
        }
        this.#database.exec('RELEASE operation');
      }
      this.#sql.commit.run();
      return undefined;
    } catch (error) {
      this.#rollback();
      return databaseFaultOf(error) ?? 'internal';
    }
  }

  #rollback(): void {
    this.#behind.forget();
    try {
      // A full disk or a read error may already have ended the transaction.
      if (this.#database.isOpen && this.#database.isTransaction) this.#database.exec('ROLLBACK');
    } catch (error) {
      this.#log.error('a transaction could not be rolled back', { cause: databaseFaultOf(error) ?? 'internal' });
    }
  }
}

/** Exactly one of `settle` and `fail` is called, after the operation was queued; neither may throw. */
export interface QueuedOperation {
  /** The operation is not started after this time, on the monotonic clock. Set when it is queued. */
  deadlineMs: number;
  /** Called within the transaction. Keeps the result; throws what the work throws. */
  run(): void;
  /** The work threw: the error becomes the result of this operation only. */
  blame(error: unknown): void;
  /** Called after the COMMIT to deliver the result. */
  settle(): void;
  /** Called instead of a COMMIT to report that nothing was done. */
  fail(unavailable: StoreUnavailable): void;
}

/** An operation with a promise for its result. */
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
