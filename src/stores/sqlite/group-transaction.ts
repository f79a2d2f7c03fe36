// One transaction for a group of operations: a bug fails only its own operation, a database fault fails all of them.
import type { DatabaseSync } from 'node:sqlite';
import type { Clock } from '../../ports/clock.ts';
import type { Callbacks } from '../../ports/ledger.ts';
import type { Log } from '../../ports/log.ts';
import { prepared } from './statements.ts';
import type { Statements } from './statements.ts';
import { databaseFaultOf } from './store-fault.ts';
import type { Cause } from './store-fault.ts';

/** Methods instead of function types, so that operations of all kinds share a queue. */
export interface QueuedOperation {
  /** Called within the transaction, perhaps again after a rollback. */
  work(asked: unknown, nowMs: number): unknown;
  readonly asked: Callbacks<unknown>;
  /** The operation is not started after this time, on the monotonic clock. */
  readonly deadlineMs: number;
  answer: unknown;
  /** What the work threw: it fails only this operation. */
  failure: { readonly error: unknown } | undefined;
}

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
  readonly #clock: Clock;
  readonly #behind: WriteBehind;
  readonly #log: Log;
  readonly #sql: Statements<typeof SQL>;

  constructor(database: DatabaseSync, clock: Clock, log: Log, behind: WriteBehind = NOTHING_BEHIND) {
    this.#database = database;
    this.#clock = clock;
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

  /**
   * Runs the group in a transaction that has begun, and ends it. Savepoints cost about a microsecond per operation, so only a
   * group in which one threw pays for them, in a second run.
   */
  run(group: readonly QueuedOperation[], isGuarded = false): Cause | undefined {
    try {
      for (const entry of group) {
        if (isGuarded) this.#runGuarded(entry);
        else entry.answer = entry.work(entry.asked, this.#clock.nowMs());
      }
      this.#behind.flush();
      this.#sql.commit.run();
      return undefined;
    } catch (error) {
      this.#rollback();
      const fault = databaseFaultOf(error);
      if (fault !== undefined || isGuarded) return fault ?? 'internal';
    }
    return this.begin() ?? this.run(group, true);
  }

  #runGuarded(entry: QueuedOperation): void {
    this.#database.exec('SAVEPOINT operation');
    try {
      entry.answer = entry.work(entry.asked, this.#clock.nowMs());
      this.#behind.flush();
    } catch (error) {
      if (databaseFaultOf(error) !== undefined) throw error;
      entry.failure = { error };
      this.#behind.forget();
      this.#database.exec('ROLLBACK TO operation');
    }
    this.#database.exec('RELEASE operation');
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
