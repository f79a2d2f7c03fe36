// Pages of teams, in order of creation.
import { isUnavailable } from '../../domain/store-unavailable.ts';
import type { StoreUnavailable } from '../../domain/store-unavailable.ts';
import type { TeamPage } from '../../ports/team-registry.ts';
import type { RegistryWork } from './registry-work.ts';
import type { TeamRows } from './team-rows.ts';

/** Teams that are searched in one transaction: some milliseconds. */
const SEARCH_PIECE = 5000;
const SUBJECT = 'a page of teams';

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
