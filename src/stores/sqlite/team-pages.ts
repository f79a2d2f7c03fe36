// Pages of teams, as numbers in order of creation.
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

  /** A search takes several transactions, so that the ledger never waits long. */
  async numbers({ after, limit, search }: TeamPage): Promise<readonly number[] | StoreUnavailable> {
    const first = await this.#work.run(SUBJECT, () => (after === undefined ? 0 : (this.#teams.number(after) ?? 0)));
    if (isUnavailable(first)) return first;
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
