// One transaction for a group of operations: a bug hurts only its own operation, a fault hurts all and keeps nothing.
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { Log } from '../../ports/log.ts';
import { databaseFaultOf } from './database-fault.ts';
import type { QueuedOperation } from './queued-operation.ts';
import type { Cause } from './store-fault.ts';

/** What operations keep in memory between their reading and the COMMIT. */
export interface WriteBehind {
  /** A transaction has begun. */
  begin(): void;
  /** Writes what is still to be written; what that throws is the transaction's failure. */
  flush(): void;
  /** The transaction, or a part of it, was rolled back. */
  forget(): void;
}

const NOTHING_BEHIND: WriteBehind = { begin: () => undefined, flush: () => undefined, forget: () => undefined };

export class GroupTransaction {
  readonly #database: DatabaseSync;
  readonly #behind: WriteBehind;
  readonly #log: Log;
  readonly #begin: StatementSync;
  readonly #commit: StatementSync;

  constructor(database: DatabaseSync, log: Log, behind: WriteBehind = NOTHING_BEHIND) {
    this.#database = database;
    this.#behind = behind;
    this.#log = log;
    // A transaction that reads first and writes later could fail half-way, when another process has committed between.
    this.#begin = database.prepare('BEGIN IMMEDIATE');
    this.#commit = database.prepare('COMMIT');
  }

  /** `busy`: nothing was begun, and a later try may find the lock free. */
  begin(): Cause | undefined {
    try {
      this.#begin.run();
      this.#behind.begin();
      return undefined;
    } catch (error) {
      this.#rollback();
      return databaseFaultOf(error) ?? 'internal';
    }
  }

  /** In a transaction that has begun, which it ends. */
  run(group: readonly QueuedOperation[]): Cause | undefined {
    try {
      for (const entry of group) entry.run();
      this.#behind.flush();
      this.#commit.run();
      return undefined;
    } catch (error) {
      this.#rollback();
      const fault = databaseFaultOf(error);
      if (fault !== undefined) return fault;
    }
    return this.#runGuarded(group);
  }

  /** Savepoints cost about a microsecond an operation: only a group in which one threw pays for them, in a second run. */
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
      this.#commit.run();
      return undefined;
    } catch (error) {
      this.#rollback();
      return databaseFaultOf(error) ?? 'internal';
    }
  }

  #rollback(): void {
    this.#behind.forget();
    try {
      // A full disk or a read error may have ended the transaction already.
      if (this.#database.isOpen && this.#database.isTransaction) this.#database.exec('ROLLBACK');
    } catch (error) {
      this.#log.error('a transaction could not be rolled back', { cause: databaseFaultOf(error) ?? 'internal' });
    }
  }
}
