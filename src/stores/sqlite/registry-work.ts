// How the registry works: operations of the group commit, on rows as they are now, with the ledger's teams in memory written out before.
import { isUnavailable } from '../../domain/store-unavailable.ts';
import type { StoreUnavailable } from '../../domain/store-unavailable.ts';
import type { TeamPage } from '../../ports/team-registry.ts';
import type { Books } from './books.ts';
import type { Expiry } from './expiry.ts';
import type { StoreParts } from './group-commit.ts';
import type { Periods } from './periods.ts';
import { constraintViolationOf } from './store-fault.ts';
import type { TeamRows } from './team-rows.ts';

/** Teams that are searched in one transaction: some milliseconds. */
const SEARCH_PIECE = 5000;
const SUBJECT = 'a page of teams';

export interface RegistryWorkParts extends StoreParts {
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

/** Pages of teams, in order of creation. */
export class TeamPages {
  readonly #work: RegistryWork;
  readonly #teams: TeamRows;

  constructor(work: RegistryWork, teams: TeamRows) {
    this.#work = work;
    this.#teams = teams;
  }

  /** What `read` makes of a page's teams. For those that were deleted since they were listed, others are on the page. */
  async read<T>(
    { after, limit, search }: TeamPage,
    read: (no: number, nowMs: number) => T | undefined,
  ): Promise<readonly T[] | StoreUnavailable> {
    const full: T[] = [];
    let first = await this.#work.run(SUBJECT, () => (after === undefined ? 0 : this.#teams.placeOf(after)));
    for (;;) {
      if (isUnavailable(first)) return first;
      const wanted = limit - full.length;
      const numbers = await this.#behind(first, wanted, search);
      if (isUnavailable(numbers)) return numbers;
      const found = await this.#work.run(SUBJECT, (nowMs) => numbers.map((no) => read(no, nowMs)));
      if (isUnavailable(found)) return found;
      full.push(...found.filter((one) => one !== undefined));
      if (numbers.length < wanted || full.length === limit) return full;
      first = numbers.at(-1)!;
    }
  }

  /** A search takes several transactions, so that the ledger never waits long. */
  async #behind(first: number, limit: number, search: string | undefined): Promise<readonly number[] | StoreUnavailable> {
    if (search === undefined) return this.#work.run(SUBJECT, () => this.#teams.behind(first, limit));
    const text = search.toLowerCase();
    const last = await this.#work.run(SUBJECT, () => this.#teams.last());
    if (isUnavailable(last)) return last;
    const found: number[] = [];
    for (let from = first; from < last && found.length < limit; from += SEARCH_PIECE) {
      const more = await this.#work.run(SUBJECT, () => this.#teams.matching(text, from, from + SEARCH_PIECE, limit - found.length));
      if (isUnavailable(more)) return more;
      found.push(...more);
    }
    return found;
  }
}
