// How the registry runs: as group-commit operations on current rows, after the ledger's in-memory teams have been written out.
import { isUnavailable } from '../../domain/store-unavailable.ts';
import type { StoreUnavailable } from '../../domain/store-unavailable.ts';
import type { TeamPage } from '../../ports/team-registry.ts';
import type { StoreParts } from './store-parts.ts';
import { constraintViolationOf } from './store-fault.ts';
import type { TeamRows } from './team-rows.ts';

/** Teams or keys searched per transaction, which takes a few milliseconds. */
const SEARCH_PIECE = 5000;
const SUBJECT = 'a page of teams';

type Parts = Pick<StoreParts, 'group' | 'accounts' | 'periods'>;

export class RegistryWork {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Rejects with a `RangeError` for the operator if the schema rejects a row. */
  async run<T>(subject: string, work: (nowMs: number) => T): Promise<T | StoreUnavailable> {
    try {
      return await this.#parts.group.run((nowMs) => {
        this.#parts.accounts.flush();
        return work(nowMs);
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

  /** For work that writes rows which the ledger caches in memory. */
  change<T>(subject: string, work: (nowMs: number) => T): Promise<T | StoreUnavailable> {
    return this.run(subject, (nowMs) => {
      const result = work(nowMs);
      this.#parts.accounts.forget();
      return result;
    });
  }

  /**
   * Searches rows by number, above `first` and up to `last`, until so many are found: in several transactions, so that the ledger
   * never waits long.
   */
  async search<T>(
    subject: string,
    first: number,
    last: () => number,
    some: (after: number, to: number, found: number) => readonly T[],
    most = Infinity,
  ): Promise<readonly T[] | StoreUnavailable> {
    const end = await this.run(subject, last);
    if (isUnavailable(end)) return end;
    const found: T[] = [];
    for (let from = first; from < end && found.length < most; from += SEARCH_PIECE) {
      const more = await this.run(subject, () => some(from, from + SEARCH_PIECE, found.length));
      if (isUnavailable(more)) return more;
      found.push(...more);
    }
    return found;
  }

  /** The row number of a team, after bringing it up to date; `undefined` if there is no such team. */
  current(teamId: string, nowMs: number): number | undefined {
    const { accounts, periods } = this.#parts;
    const team = accounts.team(teamId);
    if (team === undefined) return undefined;
    periods.update(team, nowMs);
    accounts.flush();
    return team.no;
  }

  /** Runs `change`, which writes the team's limits, and begins a new period now. */
  startPeriod(teamId: string, nowMs: number, change: () => void): void {
    const { accounts, periods } = this.#parts;
    const before = accounts.team(teamId);
    if (before !== undefined) periods.leave(before, nowMs);
    change();
    // The limits were just written, so the cached ones are outdated.
    accounts.forget();
    const team = accounts.team(teamId);
    if (team !== undefined) periods.start(team, nowMs, nowMs);
    accounts.flush();
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

  /** What `read` returns of a page's teams, in one transaction. */
  read<T>(page: TeamPage, read: (no: number, nowMs: number) => T | undefined): Promise<readonly T[] | StoreUnavailable> {
    return this.readTogether(page, (numbers) => this.#work.run(SUBJECT, (nowMs) => numbers.map((no) => read(no, nowMs))));
  }

  /** Applies `read` to the row numbers of a page's teams. Teams deleted since they were listed are replaced by the following ones. */
  async readTogether<T>(
    { after, limit, search, exact }: TeamPage,
    read: (numbers: readonly number[]) => Promise<readonly (T | undefined)[] | StoreUnavailable>,
  ): Promise<readonly T[] | StoreUnavailable> {
    const full: T[] = [];
    let last: number | undefined;
    for (;;) {
      const wanted = limit - full.length;
      const numbers = await this.#behind(last ?? after, wanted, search, exact);
      if (isUnavailable(numbers)) return numbers;
      const found = await read(numbers);
      if (isUnavailable(found)) return found;
      full.push(...found.filter((one) => one !== undefined));
      if (numbers.length < wanted || full.length === limit) return full;
      last = numbers.at(-1)!;
    }
  }

  /** Behind a team, or a row number. */
  async #behind(
    after: string | number | undefined,
    limit: number,
    search: string | undefined,
    exact = false,
  ): Promise<readonly number[] | StoreUnavailable> {
    const place = (): number => (typeof after === 'string' ? this.#teams.placeOf(after) : (after ?? 0));
    if (search === undefined) return this.#work.run(SUBJECT, () => this.#teams.behind(place(), limit));
    if (exact) return this.#work.run(SUBJECT, () => this.#teams.alike(search, place(), limit));
    const first = await this.#work.run(SUBJECT, place);
    if (isUnavailable(first)) return first;
    const last = (): number => this.#teams.last();
    return this.#work.search(SUBJECT, first, last, (from, to, found) => this.#teams.matching(search, from, to, limit - found), limit);
  }
}
