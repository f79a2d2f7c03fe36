// How the registry works: operations of the group commit, on rows as they are now, with the ledger's teams in memory written out before.
import type { StoreUnavailable } from '../../domain/store-unavailable.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Books } from './books.ts';
import { constraintViolationOf } from './store-fault.ts';
import type { Expiry } from './expiry.ts';
import type { GroupCommit } from './group-commit.ts';
import type { Periods } from './periods.ts';

export interface RegistryWorkParts {
  readonly clock: Clock;
  readonly group: GroupCommit;
  readonly books: Books;
  readonly expiry: Expiry;
  readonly periods: Periods;
}

export class RegistryWork {
  readonly #parts: RegistryWorkParts;

  constructor(parts: RegistryWorkParts) {
    this.#parts = parts;
  }

  /** Rejects with a `RangeError`, in words for the operator, when the schema refuses a row. */
  async run<T>(subject: string, work: (nowMs: number) => T): Promise<T | StoreUnavailable> {
    try {
      return await this.#parts.group.run(() => {
        this.#parts.books.flush();
        return work(this.#parts.clock.nowMs());
      });
    } catch (error) {
      const violation = constraintViolationOf(error);
      if (violation === undefined) throw error;
      throw new RangeError(
        violation === 'exists'
          ? `${subject} exists already; create it under an id and a key of its own.`
          : `${subject} cannot be stored: its numbers must be whole, not negative and below 2^53, a rate at least 1.`,
        { cause: error },
      );
    }
  }

  /** For work that writes rows of which the ledger keeps copies in memory. */
  change<T>(subject: string, work: (nowMs: number) => T): Promise<T | StoreUnavailable> {
    return this.run(subject, (nowMs) => {
      const result = work(nowMs);
      this.#parts.books.forget();
      return result;
    });
  }

  /** The number of a team, brought up to this moment; `undefined` when there is none of this id. */
  current(teamId: string, nowMs: number): number | undefined {
    const { books, expiry } = this.#parts;
    const team = books.team(teamId);
    if (team === undefined) return undefined;
    expiry.run(team, nowMs);
    books.flush();
    return team.no;
  }

  /** Runs `change`, which writes the team's limits, and begins a period at this moment. */
  startPeriod(teamId: string, nowMs: number, change: () => void): void {
    const { books, periods } = this.#parts;
    const before = books.team(teamId);
    if (before !== undefined) periods.leave(before.no, before.counts.periodNo, nowMs);
    change();
    // The team's limits have just been written, and memory has the old ones.
    books.forget();
    const team = books.team(teamId);
    if (team !== undefined) periods.start(team, nowMs, nowMs);
    books.flush();
  }
}
