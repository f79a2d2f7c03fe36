// The list of all teams in order of creation, and the search in their names and ids, in cluster slots of their own. What is not answered
// ends the operation that it is a part of (`answering`).
import type { Team, TeamPage } from '../../ports/team-registry.ts';
import { DUE_KEY, SEARCHED_KEY, TEAMS_KEY, teamKey } from './redis-keys.ts';
import type { RedisLink } from './redis-link.ts';

/** How many teams are read at a time when all are gone through. */
export const LIST_PIECE = 100;
/** How many are searched in one call: half a millisecond of the server's time. */
const SEARCH_PIECE = 10_000;
const KEYS = [TEAMS_KEY, SEARCHED_KEY, DUE_KEY];

export class TeamIndex {
  readonly #link: RedisLink;
  readonly #find: (ids: readonly string[]) => Promise<readonly Team[]>;

  /** `find` reads teams by their ids. */
  constructor(link: RedisLink, find: (ids: readonly string[]) => Promise<readonly Team[]>) {
    this.#link = link;
    this.#find = find;
  }

  /** Adds a team, or its new name. */
  async add(teamId: string, name: string): Promise<void> {
    const isThere = await this.#link.ask(async ({ redis, run }) => {
      await run('index_team', { keys: KEYS, args: [teamId, name.toLowerCase()] });
      // It may have been deleted since its name was read: whoever deletes it looks here before, or finds it here now.
      return redis.hexists(teamKey(teamId), 'b');
    });
    if (isThere === 0) await this.remove(teamId);
  }

  async remove(teamId: string): Promise<void> {
    await this.#link.ask(({ run }) => run('unindex_team', { keys: KEYS, args: [teamId] }));
  }

  /** Calls the janitor, for a team whose period may have been cut short. */
  async callJanitor(teamId: string): Promise<void> {
    // No two calls are the same: one that comes while the janitor looks at the team is not lost. Only of teams that are listed: a
    // deleted one does not come back.
    await this.#link.ask(({ redis }) => redis.zadd(DUE_KEY, 'XX', -Date.now(), teamId));
  }

  /** Ids, from the `first` on. */
  ids(first: number, count: number): Promise<readonly string[]> {
    return this.#link.ask(({ redis }) => redis.zrange(TEAMS_KEY, String(first), String(first + count - 1)));
  }

  /** A page of what `find` makes of ids. Some may be of teams that were deleted since they were listed: others take their places. */
  async full<T>(page: TeamPage, find: (ids: readonly string[]) => Promise<readonly T[]>): Promise<readonly T[]> {
    const full: T[] = [];
    for (let { after } = page; ;) {
      const limit = page.limit - full.length;
      const ids = await this.page({ ...page, after, limit });
      full.push(...(await find(ids)));
      after = ids.at(-1);
      if (ids.length < limit || full.length === page.limit) return full;
    }
  }

  /** The ids of a page's teams. */
  async page({ after, limit, search }: TeamPage): Promise<readonly string[]> {
    const first = after === undefined ? 0 : await this.#behind(after);
    return search === undefined ? this.ids(first, limit) : this.#search(first, limit, search.toLowerCase());
  }

  /**
   * The rank of the team that follows this one. Where it was deleted in the meantime, that of the first with a higher id, because
   * ids are given in the order of time.
   */
  async #behind(teamId: string): Promise<number> {
    const [rank, count] = await this.#link.ask(({ redis }) => Promise.all([redis.zrank(TEAMS_KEY, teamId), redis.zcard(TEAMS_KEY)]));
    if (rank !== null) return rank + 1;
    let [low, high] = [0, count];
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      const [id] = await this.ids(middle, 1);
      if (id !== undefined && id < teamId) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** A part of the teams per call, so that no call keeps the server busy for long. `first` is a rank. */
  async #search(first: number, limit: number, text: string): Promise<readonly string[]> {
    await this.#nameAll();
    const places = await this.#link.ask(({ redis }) =>
      Promise.all([String(first), '-1'].map((rank) => redis.zrange(TEAMS_KEY, rank, rank, 'WITHSCORES'))),
    );
    const [from = NaN, last = NaN] = places.map(([, place]) => Number(place));
    return this.#searchPlaces(from, last, limit, text);
  }

  /** From one place to another; neither is a number where there are no teams. */
  async #searchPlaces(first: number, last: number, limit: number, text: string): Promise<readonly string[]> {
    const ids: string[] = [];
    for (let from = first; from <= last && ids.length < limit;) {
      const args = [from, SEARCH_PIECE, text, limit - ids.length].map(String);
      const reply = await this.#link.ask(({ run }) => run('find_teams', { keys: [SEARCHED_KEY], args }));
      const [, , next, found] = reply as readonly [number, Buffer, number, readonly Buffer[]];
      ids.push(...found.map(String));
      from = next;
    }
    return ids.slice(0, limit);
  }

  /** Adds names that the search lacks: of older versions' teams, or of a process that ended in between. */
  async #nameAll(): Promise<void> {
    const [teams, named] = await this.#link.ask(({ redis }) => Promise.all([redis.zcard(TEAMS_KEY), redis.hget(SEARCHED_KEY, 'teams')]));
    if (Number(named ?? 0) >= teams) return;
    for (let first = 0; first < teams; first += LIST_PIECE) {
      const found = await this.#find(await this.ids(first, LIST_PIECE));
      await Promise.all(found.map(({ teamId, name }) => this.add(teamId, name)));
    }
  }
}
