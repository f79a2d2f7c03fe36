// Group commit: runs operations that arrive at about the same moment in one transaction, so that they share one fsync. A bug fails
// only its own operation, a database fault fails all of them.
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { SETTLE_LINGER_MS } from '../../domain/admission.ts';
import type { StoreUnavailable } from '../../domain/store-unavailable.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Callbacks } from '../../ports/ledger.ts';
import type { Log } from '../../ports/log.ts';
import { databaseFaultOf, unavailable } from './store-fault.ts';
import type { Cause } from './store-fault.ts';

/** At about 10 microseconds per operation, this is the longest that a group may block the event loop. */
const GROUP_MAX = 256;
const QUEUE_MAX = 10_000;
/** About as long as a transaction takes. */
const GATHER_MS_MAX = 1;
const RETRY_MS_MIN = 1;
const RETRY_MS_SPREAD = 2;
const DEFECT_LOG_EVERY_MS = 5000;
/** Faults that affect every write: the store probe logs when they begin and end. */
const REPORTED_BY_PROBE: ReadonlySet<Cause> = new Set(['busy', 'full', 'read_only', 'vanished', 'replaced', 'closed']);

/** Methods instead of function types, so that operations of all kinds share a queue. */
interface QueuedOperation {
  /** Called within the transaction, perhaps again after a rollback. */
  work(asked: unknown, nowMs: number): unknown;
  readonly asked: Callbacks<unknown>;
  /** The operation is not started after this time, on the monotonic clock. */
  readonly deadlineMs: number;
  answer: unknown;
  /** What the work threw: it fails only this operation. */
  failure: { readonly error: unknown } | undefined;
}

/** Rows that operations hold in memory between reading them and the COMMIT. */
interface WriteBehind {
  /** A transaction has begun. */
  begin(): void;
  /** Writes the changed rows; if it throws, the transaction fails. */
  flush(): void;
  /** The transaction, or a part of it, was rolled back. */
  forget(): void;
}

interface GroupCommitOptions {
  readonly database: DatabaseSync;
  /** The file, for messages to operators. */
  readonly path: string;
  /** Read once per operation, when it runs. */
  readonly clock: Clock;
  readonly log: Log;
  /** How long an operation may wait; after that it is failed without being run. */
  readonly busyTimeoutMs: number;
  readonly behind?: WriteBehind | undefined;
  /** How long the first operation of a group may wait for others. */
  readonly gatherMsMax?: number;
}

/**
 * Work runs within a transaction, at the end of this turn or one of the next, and is answered after the COMMIT. An error that it
 * throws only fails its own operation. If no transaction can begin in time, or it fails, the answer is `unavailable`. After a
 * rollback the work may be run again, so it must hold no state of a run except its answer.
 */
export class GroupCommit {
  readonly #options: Required<Pick<GroupCommitOptions, 'path' | 'log' | 'busyTimeoutMs' | 'gatherMsMax'>>;
  readonly #transaction: GroupTransaction;
  #queue: QueuedOperation[] = [];
  #scheduled = false;
  /** Number of queued operations with a waiting caller, and the same for the last group. */
  #awaited = 0;
  #awaitedLast = 0;
  /** While a group is gathered: the queue length one turn ago, and the deadline for waiting. */
  #seen = 0;
  #gatherUntilMs = 0;
  /** Set while the queue only contains operations that no caller waits for. */
  #lingering: NodeJS.Timeout | undefined;
  #closed = false;
  /** Why transactions must not begin although they could: the file is no longer in its place. */
  #away: Cause | undefined;
  #defectLoggedAtMs = -Infinity;
  #onIdle: (() => void) | undefined;

  constructor(options: GroupCommitOptions) {
    this.#options = { gatherMsMax: GATHER_MS_MAX, ...options };
    this.#transaction = new GroupTransaction(options);
  }

  /** Runs `work` within a transaction, like `add`; an error it throws only rejects its own promise. */
  run<T>(work: (nowMs: number) => T): Promise<T | StoreUnavailable> {
    return new Promise((answered, failed) => {
      this.add<Callbacks<T | StoreUnavailable>, T>((_asked, nowMs) => work(nowMs), { answered, failed }, true);
    });
  }

  /** One that is not `hurried` may wait to share a transaction with others, but stays before them. */
  add<Asked extends Callbacks<Answer | StoreUnavailable>, Answer>(
    work: (asked: Asked, nowMs: number) => Answer,
    asked: Asked,
    hurried: boolean,
  ): void {
    if (this.#closed) return this.#refuse(asked, 'closed');
    if (this.#queue.length >= QUEUE_MAX) return this.#refuse(asked, 'queue_full');
    // Real time, even if a test moves the store's clock: this limits how long callers wait.
    const monotonicMs = performance.now();
    this.#queue.push({ work, asked, deadlineMs: monotonicMs + this.#options.busyTimeoutMs, answer: undefined, failure: undefined });
    if (hurried) {
      this.#awaited++;
      if (!this.#scheduled) this.#schedule(monotonicMs + this.#options.gatherMsMax);
    } else if (!this.#scheduled) this.#lingering ??= setTimeout(this.#endLinger, SETTLE_LINGER_MS);
  }

  /** With a cause, nothing is run and every operation fails with it, until the cause is cleared. */
  setAway(cause: Cause | undefined): void {
    this.#away = cause;
  }

  /** Accepts no more operations, and resolves when all accepted ones have run. */
  close(): Promise<void> {
    this.#closed = true;
    if (this.#queue.length === 0) return Promise.resolve();
    this.#schedule();
    return new Promise((resolve) => (this.#onIdle = resolve));
  }

  /** Deferred, because an answer must not arrive before `add` has returned. */
  #refuse(asked: Callbacks<StoreUnavailable>, cause: Cause): void {
    queueMicrotask(() => asked.answered(unavailable(this.#options.path, cause)));
  }

  /** Flushes the queue in the check phase of a later turn, at once or after having gathered more until then. */
  #schedule(gatherUntilMs = 0, delayMs = 0): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    this.#seen = 0;
    this.#gatherUntilMs = gatherUntilMs;
    if (delayMs === 0) setImmediate(this.#gather);
    else setTimeout(this.#gather, delayMs);
  }

  /**
   * With several operations in the queue, each turn of the event loop that adds more saves a transaction: the group grows until
   * a turn adds none. A single operation does not wait.
   */
  readonly #gather = (): void => {
    const { length } = this.#queue;
    const hasGrown = length > this.#seen;
    this.#seen = length;
    const isShared = this.#awaited > 1 || this.#awaitedLast > 1;
    if (isShared && hasGrown && length < GROUP_MAX && performance.now() < this.#gatherUntilMs) setImmediate(this.#gather);
    else this.#flush();
  };

  readonly #endLinger = (): void => {
    this.#lingering = undefined;
    this.#schedule();
  };

  #flush(): void {
    this.#scheduled = false;
    clearTimeout(this.#lingering);
    this.#lingering = undefined;
    if (this.#queue.length > 0 && this.#queue[0]!.deadlineMs <= performance.now()) this.#dropOverdue();
    if (this.#queue.length > 0) {
      const fault = this.#away ?? this.#transaction.begin();
      // Randomized, so that two processes do not collide again and again at the lock.
      if (fault === 'busy') return this.#schedule(0, RETRY_MS_MIN + Math.random() * RETRY_MS_SPREAD);
      const group = this.#queue;
      this.#queue = group.length > GROUP_MAX ? group.splice(GROUP_MAX) : [];
      this.#awaitedLast = this.#awaited;
      this.#awaited = 0;
      const cause = fault ?? this.#transaction.run(group);
      // Before results are delivered: operations that they trigger are scheduled when they are added.
      if (this.#queue.length > 0) this.#schedule();
      this.#conclude(group, cause);
    }
    if (this.#queue.length === 0) this.#onIdle?.();
  }

  /** Fails operations that are past their deadline without running them. The queue is ordered by deadline. */
  #dropOverdue(): void {
    const monotonicMs = performance.now();
    const firstInTime = this.#queue.findIndex((entry) => entry.deadlineMs > monotonicMs);
    this.#conclude(this.#queue.splice(0, firstInTime === -1 ? this.#queue.length : firstInTime), 'busy');
  }

  #conclude(group: readonly QueuedOperation[], cause: Cause | undefined): void {
    if (cause !== undefined && !REPORTED_BY_PROBE.has(cause)) this.#logDefect(cause);
    for (const { asked, answer, failure } of group) {
      if (cause !== undefined) asked.answered(unavailable(this.#options.path, cause));
      else if (failure !== undefined) asked.failed(failure.error);
      else asked.answered(answer);
    }
  }

  /** Logs a fault that the store probe may miss, because it only tries a small write. */
  #logDefect(cause: Cause): void {
    const nowMs = performance.now();
    if (nowMs - this.#defectLoggedAtMs < DEFECT_LOG_EVERY_MS) return;
    this.#defectLoggedAtMs = nowMs;
    this.#options.log.error('the SQLite store failed to run an operation', { cause });
  }
}

/** The transaction of one group. */
class GroupTransaction {
  readonly #database: DatabaseSync;
  readonly #clock: Clock;
  readonly #behind: WriteBehind | undefined;
  readonly #log: Log;
  readonly #begin: StatementSync;
  readonly #commit: StatementSync;

  constructor({ database, clock, log, behind }: GroupCommitOptions) {
    [this.#database, this.#clock, this.#log, this.#behind] = [database, clock, log, behind];
    // IMMEDIATE, because a transaction that reads before it writes would fail midway if another process committed in between.
    this.#begin = database.prepare('BEGIN IMMEDIATE');
    this.#commit = database.prepare('COMMIT');
  }

  /** `busy` means that nothing was begun, and that a retry may find the lock free. */
  begin(): Cause | undefined {
    try {
      this.#begin.run();
      this.#behind?.begin();
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
      this.#behind?.flush();
      this.#commit.run();
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
      this.#behind?.flush();
    } catch (error) {
      if (databaseFaultOf(error) !== undefined) throw error;
      entry.failure = { error };
      this.#behind?.forget();
      this.#database.exec('ROLLBACK TO operation');
    }
    this.#database.exec('RELEASE operation');
  }

  #rollback(): void {
    this.#behind?.forget();
    try {
      // A full disk or a read error may already have ended the transaction.
      if (this.#database.isOpen && this.#database.isTransaction) this.#database.exec('ROLLBACK');
    } catch (error) {
      this.#log.error('a transaction could not be rolled back', { cause: databaseFaultOf(error) ?? 'internal' });
    }
  }
}
