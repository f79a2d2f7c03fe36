// The list of all teams in order of creation, and the search in their names and ids, in cluster slots of their own.
import { allAnswered, isUnavailable } from '../../domain/store-unavailable.ts';
import type { StoreUnavailable } from '../../domain/store-unavailable.ts';
import type { Team, TeamPage } from '../../ports/team-registry.ts';
import { DUE_KEY, SEARCHED_KEY, TEAMS_KEY, teamKey } from './redis-keys.ts';
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
    if (isUnavailable(reply)) return reply;
    // It may have been deleted since its name was read: whoever deletes it looks here before, or finds it here now.
    const isThere = await this.#link.ask(({ redis }) => redis.hexists(teamKey(teamId), 'b'));
    if (isUnavailable(isThere)) return isThere;
    return isThere === 1 ? undefined : this.remove(teamId);
  }

  /** Removes a team. `undefined` when it is not there any more. */
  async remove(teamId: string): Promise<StoreUnavailable | undefined> {
    const reply = await this.#link.ask(({ run }) => run('unindex_team', { keys: [TEAMS_KEY, SEARCHED_KEY, DUE_KEY], args: [teamId] }));
    return isUnavailable(reply) ? reply : undefined;
  }

  /** Calls the janitor, for a team whose period may have been cut short. `undefined` when it was done. */
  async callJanitor(teamId: string): Promise<StoreUnavailable | undefined> {
    // No two calls are the same: one that comes while the janitor looks at the team is not lost. Only of teams that are listed: a
    // deleted one does not come back.
    const reply = await this.#link.ask(({ redis }) => redis.zadd(DUE_KEY, 'XX', -Date.now(), teamId));
    return isUnavailable(reply) ? reply : undefined;
  }

  /** Ids, from the `first` on. */
  ids(first: number, count: number): Promise<readonly string[] | StoreUnavailable> {
    return this.#link.ask(({ redis }) => redis.zrange(TEAMS_KEY, String(first), String(first + count - 1)));
  }

  /** A page of what `find` makes of ids. Some may be of teams that were deleted since they were listed: others take their places. */
  async full<T>(
    page: TeamPage,
    find: (ids: readonly string[]) => Promise<readonly T[] | StoreUnavailable>,
  ): Promise<readonly T[] | StoreUnavailable> {
    const full: T[] = [];
    for (let { after } = page; ;) {
      const limit = page.limit - full.length;
      const ids = await this.page({ ...page, after, limit });
      if (isUnavailable(ids)) return ids;
      const found = await find(ids);
      if (isUnavailable(found)) return found;
      full.push(...found);
      after = ids.at(-1);
      if (ids.length < limit || full.length === page.limit) return full;
    }
  }

  /** The ids of a page's teams. */
  async page({ after, limit, search }: TeamPage): Promise<readonly string[] | StoreUnavailable> {
    const first = after === undefined ? 0 : await this.#behind(after);
    if (isUnavailable(first)) return first;
    return search === undefined ? this.ids(first, limit) : this.#search(first, limit, search.toLowerCase());
  }

  /**
   * The rank of the team that follows this one. Where it was deleted in the meantime, that of the first with a higher id, because
   * ids are given in the order of time.
   */
  async #behind(teamId: string): Promise<number | StoreUnavailable> {
    const found = await this.#link.ask(({ redis }) => Promise.all([redis.zrank(TEAMS_KEY, teamId), redis.zcard(TEAMS_KEY)]));
    if (isUnavailable(found)) return found;
    const [rank, count] = found;
    if (rank !== null) return rank + 1;
    let [low, high] = [0, count];
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      const ids = await this.ids(middle, 1);
      if (isUnavailable(ids)) return ids;
      if (ids[0] !== undefined && ids[0] < teamId) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** A part of the teams per call, so that no call keeps the server busy for long. `first` is a rank. */
  async #search(first: number, limit: number, text: string): Promise<readonly string[] | StoreUnavailable> {
    const failed = await this.#nameAll();
    if (failed !== undefined) return failed;
    const places = await this.#link.ask(({ redis }) =>
      Promise.all([String(first), '-1'].map((rank) => redis.zrange(TEAMS_KEY, rank, rank, 'WITHSCORES'))),
    );
    if (isUnavailable(places)) return places;
    const [from = NaN, last = NaN] = places.map(([, place]) => Number(place));
    return this.#searchPlaces(from, last, limit, text);
  }

  /** From one place to another; neither is a number where there are no teams. */
  async #searchPlaces(first: number, last: number, limit: number, text: string): Promise<readonly string[] | StoreUnavailable> {
    const ids: string[] = [];
    for (let from = first; from <= last && ids.length < limit;) {
      const args = [from, SEARCH_PIECE, text, limit - ids.length].map(String);
      const reply = await this.#link.ask(({ run }) => run('find_teams', { keys: [SEARCHED_KEY], args }));
      if (isUnavailable(reply)) return reply;
      const [, , next, found] = reply as readonly [number, Buffer, number, readonly Buffer[]];
      ids.push(...found.map(String));
      from = next;
    }
    return ids.slice(0, limit);
  }

  /** Adds names that the search lacks: of older versions' teams, or of a process that ended in between. */
  async #nameAll(): Promise<StoreUnavailable | undefined> {
    const counts = await this.#link.ask(({ redis }) => Promise.all([redis.zcard(TEAMS_KEY), redis.hget(SEARCHED_KEY, 'teams')]));
    if (isUnavailable(counts)) return counts;
    const [teams, named] = counts;
    if (Number(named ?? 0) >= teams) return undefined;
    for (let first = 0; first < teams; first += LIST_PIECE) {
      const ids = await this.ids(first, LIST_PIECE);
      if (isUnavailable(ids)) return ids;
      const found = await this.#find(ids);
      if (isUnavailable(found)) return found;
      const added = allAnswered(await Promise.all(found.map(({ teamId, name }) => this.add(teamId, name))));
      if (isUnavailable(added)) return added;
    }
    return undefined;
  }
}
