// The ledger in SQLite: operations run in a transaction with others, and are answered after its COMMIT.
import type { StoreUnavailable } from '../../domain/store-unavailable.ts';
import type { Clock } from '../../ports/clock.ts';
import type {
  Admission,
  AdmissionRequest,
  AskedAdmission,
  AskedResolution,
  CallerCheck,
  CheckedCaller,
  DirectLedger,
  Ledger,
  Resolution,
  Verdict,
} from '../../ports/ledger.ts';
import type { Admissions } from './admissions.ts';
import type { GroupCommit } from './group-commit.ts';
import type { QueuedOperation } from './queued-operation.ts';
import type { Resolutions } from './resolutions.ts';

export interface SqliteLedgerParts {
  readonly group: GroupCommit;
  readonly clock: Clock;
  readonly admissions: Admissions;
  readonly resolutions: Resolutions;
}

export class SqliteLedger implements Ledger {
  readonly direct: DirectLedger;
  readonly #parts: SqliteLedgerParts;

  constructor(parts: SqliteLedgerParts) {
    this.#parts = parts;
    const { group } = parts;
    this.direct = {
      admit: (asked) => group.add(new QueuedAdmission(asked, parts), true),
      // No caller waits for a resolution: it shares the transaction of an admission or of other resolutions.
      resolve: (asked) => group.add(new QueuedResolution(asked, parts), false),
    };
  }

  admit(request: AdmissionRequest): Promise<Admission> {
    return new Promise((answered, failed) => this.direct.admit({ ...request, answered, failed }));
  }

  check(check: CallerCheck): Promise<CheckedCaller> {
    const { group, clock, admissions } = this.#parts;
    return group.run(() => admissions.check(check, clock.nowMs()));
  }

  resolve(teamId: string, requestId: string, verdict: Verdict): Promise<Resolution> {
    return new Promise((answered, failed) => this.direct.resolve({ teamId, requestId, verdict, answered, failed }));
  }
}

/** How both kinds of operations keep and give their results. */
abstract class Queued<Answer> implements QueuedOperation {
  deadlineMs = 0;
  readonly parts: SqliteLedgerParts;
  #answer: Answer | undefined = undefined;
  #error: unknown = undefined;
  #isBlamed = false;

  constructor(parts: SqliteLedgerParts) {
    this.parts = parts;
  }

  protected abstract readonly asked: { answered(answer: Answer | StoreUnavailable): void; failed(error: unknown): void };
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

class QueuedResolution extends Queued<Resolution> {
  protected readonly asked: AskedResolution;

  constructor(asked: AskedResolution, parts: SqliteLedgerParts) {
    super(parts);
    this.asked = asked;
  }

  protected answer(nowMs: number): Resolution {
    const { teamId, requestId, verdict } = this.asked;
    return this.parts.resolutions.resolve(teamId, requestId, verdict, nowMs);
  }
}
