// The ledger in SQLite: operations share transactions, and are answered after the COMMIT.
import type { StoreUnavailable } from '../../domain/store-unavailable.ts';
import type { Clock } from '../../ports/clock.ts';
import type {
  Admission,
  Callbacks,
  AskedAdmission,
  AskedCheck,
  AskedResolution,
  CheckedCaller,
  Ledger,
  Resolution,
} from '../../ports/ledger.ts';
import type { Admissions } from './admissions.ts';
import type { GroupCommit } from './group-commit.ts';
import type { QueuedOperation } from './group-transaction.ts';
import type { Resolutions } from './resolutions.ts';

export interface SqliteLedgerParts {
  readonly group: GroupCommit;
  readonly clock: Clock;
  readonly admissions: Admissions;
  readonly resolutions: Resolutions;
}

export class SqliteLedger implements Ledger {
  readonly chargesParts = true;
  readonly #parts: SqliteLedgerParts;

  constructor(parts: SqliteLedgerParts) {
    this.#parts = parts;
  }

  admit(asked: AskedAdmission): void {
    this.#parts.group.add(new QueuedAdmission(asked, this.#parts), true);
  }

  check(asked: AskedCheck): void {
    this.#parts.group.add(new QueuedCheck(asked, this.#parts), true);
  }

  /** No caller waits for a settlement: it shares the transaction of an admission or of other settlements. */
  resolve(asked: AskedResolution): void {
    this.#parts.group.add(new QueuedResolution(asked, this.#parts), false);
  }
}

/** How all kinds of operations keep and deliver their results. */
abstract class Queued<Answer> implements QueuedOperation {
  deadlineMs = 0;
  readonly parts: SqliteLedgerParts;
  #answer: Answer | undefined = undefined;
  #error: unknown = undefined;
  #isBlamed = false;

  constructor(parts: SqliteLedgerParts) {
    this.parts = parts;
  }

  protected abstract readonly asked: Callbacks<Answer | StoreUnavailable>;
  protected abstract answer(nowMs: number): Answer;

  run(): void {
    this.#answer = this.answer(this.parts.clock.nowMs());
  }

  blame(error: unknown): void {
    this.#isBlamed = true;
    this.#error = error;
  }

  settle(): void {
    if (this.#isBlamed) this.asked.failed(this.#error);
    else this.asked.answered(this.#answer as Answer);
  }

  fail(unavailable: StoreUnavailable): void {
    this.asked.answered(unavailable);
  }
}

class QueuedAdmission extends Queued<Admission> {
  protected readonly asked: AskedAdmission;

  constructor(asked: AskedAdmission, parts: SqliteLedgerParts) {
    super(parts);
    this.asked = asked;
  }

  protected answer(nowMs: number): Admission {
    return this.parts.admissions.admit(this.asked, nowMs);
  }
}

class QueuedCheck extends Queued<CheckedCaller> {
  protected readonly asked: AskedCheck;

  constructor(asked: AskedCheck, parts: SqliteLedgerParts) {
    super(parts);
    this.asked = asked;
  }

  protected answer(nowMs: number): CheckedCaller {
    return this.parts.admissions.check(this.asked, nowMs);
  }
}

class QueuedResolution extends Queued<Resolution> {
  protected readonly asked: AskedResolution;

  constructor(asked: AskedResolution, parts: SqliteLedgerParts) {
    super(parts);
    this.asked = asked;
  }

  protected answer(nowMs: number): Resolution {
    return this.parts.resolutions.resolve(this.asked, nowMs);
  }
}
