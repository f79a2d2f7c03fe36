// The list of all teams in order of creation, and the search in their names and ids, in cluster slots of their own.
import { allAnswered, isUnavailable } from '../../domain/store-unavailable.ts';
import type { StoreUnavailable } from '../../domain/store-unavailable.ts';
import type { Team, TeamPage } from '../../ports/team-registry.ts';
import { DUE_KEY, SEARCHED_KEY, TEAMS_KEY } from './redis-keys.ts';
import type { RedisLink } from './redis-link.ts';

/** How many teams are read at a time when all are gone through. */
export const LIST_PIECE = 100;
/** How many are searched in one call: half a millisecond of the server's time. */
const SEARCH_PIECE = 10_000;

export class TeamIndex {
  readonly #link: RedisLink;
  readonly #find: (ids: readonly string[]) => Promise<readonly Team[] | StoreUnavailable>;

  /** `find` reads teams by their ids. */
  constructor(link: RedisLink, find: (ids: readonly string[]) => Promise<readonly Team[] | StoreUnavailable>) {
    this.#link = link;
    this.#find = find;
  }

  /** Adds a team, or its new name. `undefined` when it was done. */
  async add(teamId: string, name: string): Promise<StoreUnavailable | undefined> {
    const args = [teamId, name.toLowerCase()];
    const reply = await this.#link.ask(({ run }) => run('index_team', { keys: [TEAMS_KEY, SEARCHED_KEY, DUE_KEY], args }));
    return isUnavailable(reply) ? reply : undefined;
  }

  /** Calls the janitor, for a team whose period may have been cut short. `undefined` when it was done. */
  async callJanitor(teamId: string): Promise<StoreUnavailable | undefined> {
    // No two calls are the same: one that comes while the janitor looks at the team is not lost.
    const reply = await this.#link.ask(({ redis }) => redis.zadd(DUE_KEY, -Date.now(), teamId));
    return isUnavailable(reply) ? reply : undefined;
  }

  /** Ids, from the `first` on. */
  ids(first: number, count: number): Promise<readonly string[] | StoreUnavailable> {
    return this.#link.ask(({ redis }) => redis.zrange(TEAMS_KEY, String(first), String(first + count - 1)));
  }

  /** The ids of a page's teams. */
  async page({ after, limit, search }: TeamPage): Promise<readonly string[] | StoreUnavailable> {
    const rank = after === undefined ? null : await this.#link.ask(({ redis }) => redis.zrank(TEAMS_KEY, after));
    if (isUnavailable(rank)) return rank;
    const first = rank === null ? 0 : rank + 1;
    return search === undefined ? this.ids(first, limit) : this.#search(first, limit, search.toLowerCase());
  }

  /** A part of the teams per call, so that no call keeps the server busy for long. */
  async #search(first: number, limit: number, text: string): Promise<readonly string[] | StoreUnavailable> {
    const teams = await this.#nameAll();
    if (isUnavailable(teams)) return teams;
    const ids: string[] = [];
    for (let from = first; from < teams && ids.length < limit;) {
      const args = [from, SEARCH_PIECE, text, limit - ids.length].map(String);
      const reply = await this.#link.ask(({ run }) => run('find_teams', { keys: [SEARCHED_KEY], args }));
      if (isUnavailable(reply)) return reply;
      const [, , next, found] = reply as readonly [number, Buffer, number, readonly Buffer[]];
      ids.push(...found.map(String));
      from = next;
    }
    return ids.slice(0, limit);
  }

  /** Adds names that the search lacks: of older versions' teams, or of a process that ended in between. Returns how many teams there are. */
  async #nameAll(): Promise<number | StoreUnavailable> {
    const counts = await this.#link.ask(({ redis }) => Promise.all([redis.zcard(TEAMS_KEY), redis.hget(SEARCHED_KEY, 'teams')]));
    if (isUnavailable(counts)) return counts;
    const [teams, named] = counts;
    if (Number(named ?? 0) >= teams) return teams;
    for (let first = 0; first < teams; first += LIST_PIECE) {
      const ids = await this.ids(first, LIST_PIECE);
      if (isUnavailable(ids)) return ids;
      const found = await this.#find(ids);
      if (isUnavailable(found)) return found;
      const added = allAnswered(await Promise.all(found.map(({ teamId, name }) => this.add(teamId, name))));
      if (isUnavailable(added)) return added;
    }
    return teams;
  }
}
