// Runs what was asked for in one turn of the event loop in one transaction, so that one fsync pays for all of it.
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { SETTLE_LINGER_MS } from '../../domain/reservation.ts';
import type { StoreUnavailable } from '../../domain/store-unavailable.ts';
import type { Log } from '../../ports/log.ts';
import { databaseFaultOf } from './database-fault.ts';
import { PromisedOperation } from './queued-operation.ts';
import type { QueuedOperation } from './queued-operation.ts';
import { unavailable } from './store-fault.ts';
import type { Cause } from './store-fault.ts';

/** About 10 microseconds an operation: the longest that a group may keep the event loop. */
const GROUP_MAX = 256;
const QUEUE_MAX = 10_000;
const RETRY_MS_MIN = 1;
const RETRY_MS_SPREAD = 2;

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

export interface GroupCommitOptions {
  readonly database: DatabaseSync;
  /** The file, for what operators are told. */
  readonly path: string;
  readonly log: Log;
  /** How long an operation may wait; after that it is answered and never run. */
  readonly busyTimeoutMs: number;
  readonly behind?: WriteBehind;
}

export class GroupCommit {
  readonly #database: DatabaseSync;
  readonly #path: string;
  readonly #behind: WriteBehind;
  readonly #log: Log;
  readonly #busyTimeoutMs: number;
  readonly #begin: StatementSync;
  readonly #commit: StatementSync;
  readonly #flushNow = (): void => this.#flush();
  #queue: QueuedOperation[] = [];
  #scheduled = false;
  /** Set while only what can wait is waiting. */
  #lingering: NodeJS.Timeout | undefined;
  #closed = false;
  /** The fault that the log was told of last, until a group succeeds. */
  #reported: Cause | undefined;
  #onIdle: (() => void) | undefined;

  constructor({ database, path, log, busyTimeoutMs, behind = NOTHING_BEHIND }: GroupCommitOptions) {
    this.#database = database;
    this.#path = path;
    this.#behind = behind;
    this.#log = log;
    this.#busyTimeoutMs = busyTimeoutMs;
    // A transaction that reads first and writes later could fail half-way, when another process has committed between.
    this.#begin = database.prepare('BEGIN IMMEDIATE');
    this.#commit = database.prepare('COMMIT');
  }

  /** Runs `work` inside a transaction, as `add` does; what it throws rejects its own promise only. */
  run<T>(work: () => T): Promise<T | StoreUnavailable> {
    const operation = new PromisedOperation(work);
    this.add(operation, true);
    return operation.promise;
  }

  /**
   * Runs the operation inside a transaction at the end of this turn, and settles it after its COMMIT. What it throws is its
   * own answer only. When the transaction cannot be had in time or fails, the answer is `unavailable`.
   * It may be run a second time, after a rollback, and must keep nothing between its runs but what it answers. What is not
   * `hurried` may wait for others to share a transaction with, but keeps its place in front of them.
   */
  add(operation: QueuedOperation, hurried: boolean): void {
    if (this.#closed) return this.#refuse(operation, 'closed');
    if (this.#queue.length >= QUEUE_MAX) return this.#refuse(operation, 'queue_full');
    // Real time, also where a test moves the clock: it bounds how long a caller waits.
    operation.deadlineMs = performance.now() + this.#busyTimeoutMs;
    this.#queue.push(operation);
    if (hurried) this.#schedule(0);
    else this.#linger();
  }

  /** Takes no more, and resolves when all that was taken has been run. */
  close(): Promise<void> {
    this.#closed = true;
    if (this.#queue.length === 0) return Promise.resolve();
    this.#schedule(0);
    return new Promise((resolve) => {
      this.#onIdle = resolve;
    });
  }

  /** Later, as whoever is answered expects. */
  #refuse(operation: QueuedOperation, cause: Cause): void {
    queueMicrotask(() => operation.fail(unavailable(this.#path, cause)));
  }

  #schedule(delayMs: number): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    if (delayMs === 0) setImmediate(this.#flushNow);
    else setTimeout(this.#flushNow, delayMs);
  }

  #linger(): void {
    if (this.#scheduled) return;
    this.#lingering ??= setTimeout(() => {
      this.#lingering = undefined;
      this.#schedule(0);
    }, SETTLE_LINGER_MS);
  }

  #flush(): void {
    this.#scheduled = false;
    clearTimeout(this.#lingering);
    this.#lingering = undefined;
    this.#dropLate();
    if (this.#queue.length > 0) {
      const fault = this.#tryBegin();
      // Jittered, so that two processes that wait for each other do not keep step.
      if (fault === 'busy') return this.#schedule(RETRY_MS_MIN + Math.random() * RETRY_MS_SPREAD);
      const group = this.#queue;
      this.#queue = group.length > GROUP_MAX ? group.splice(GROUP_MAX) : [];
      const cause = fault ?? this.#runAll(group);
      // Before answers are given: what they make their askers ask for next decides by itself how long it waits.
      if (this.#queue.length > 0) this.#schedule(0);
      this.#conclude(group, cause);
    }
    if (this.#queue.length === 0) this.#onIdle?.();
  }

  /** Whoever has waited too long is answered and never run. The queue is in the order of deadlines. */
  #dropLate(): void {
    const nowMs = performance.now();
    if (this.#queue.length === 0 || this.#queue[0]!.deadlineMs > nowMs) return;
    const firstInTime = this.#queue.findIndex((entry) => entry.deadlineMs > nowMs);
    this.#conclude(this.#queue.splice(0, firstInTime === -1 ? this.#queue.length : firstInTime), 'busy');
  }

  #tryBegin(): Cause | undefined {
    try {
      this.#begin.run();
      this.#behind.begin();
      return undefined;
    } catch (error) {
      this.#rollback();
      return databaseFaultOf(error) ?? 'internal';
    }
  }

  #runAll(group: readonly QueuedOperation[]): Cause | undefined {
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
    const fault = this.#tryBegin();
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

  #conclude(group: readonly QueuedOperation[], cause: Cause | undefined): void {
    if (cause !== this.#reported) {
      if (cause === undefined) this.#log.info('the SQLite store answers again');
      else this.#log.error('the SQLite store does not answer', { cause });
      this.#reported = cause;
    }
    if (cause === undefined) for (const entry of group) entry.settle();
    else for (const entry of group) entry.fail(unavailable(this.#path, cause));
  }
}
