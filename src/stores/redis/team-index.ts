// The list of all teams in order of creation, and the search by name and id, in separate cluster slots. A failed command ends
// the whole operation (`answering`).
import type { Team, TeamPage } from '../../ports/team-registry.ts';
import { DUE_KEY, INDEX_KEYS, SEARCHED_KEY, TEAMS_KEY, teamKey } from './redis-keys.ts';
import type { RedisConnection } from './redis-connection.ts';
import type { RedisLink } from './redis-link.ts';

/** How many teams are read at a time when all are read. */
export const LIST_PIECE = 100;
/** How many teams one call searches: half a millisecond of the server's time. */
const SEARCH_PIECE = 10_000;

/** Teams per field of the search index (lua/search.lua). */
const STRETCH = 250;

function stretchOf(position: number): string {
  return String(Math.floor(position / STRETCH));
}

/** What a team is searched by, by team, from the fields of the search index. */
export function searchedLines(fields: readonly (string | null)[]): Map<string, string> {
  const names = new Map<string, string>();
  for (const lines of fields) for (const match of (lines ?? '').matchAll(/^\d+ (\S+) (.*)$/gm)) names.set(match[1]!, match[2]!);
  return names;
}

/** Between a name and a reference, which have no control characters (lua/search.lua). */
const SEPARATOR = '\u001F';

/** A team's name and reference as the search index has them. */
export function lineOf({ name, reference }: Pick<Team, 'name' | 'reference'>): string {
  const line = reference === undefined ? name : name + SEPARATOR + reference;
  return line.toLowerCase().replaceAll('\n', ' ');
}

/** The same of a team as it is now; `null` if it does not exist. */
export async function readLine(redis: Pick<RedisConnection, 'hmget'>, teamId: string): Promise<string | null> {
  const [name = null, reference] = await redis.hmget(teamKey(teamId), 'name', 'reference');
  return name === null ? null : lineOf(reference ? { name, reference } : { name });
}

export class TeamIndex {
  readonly #link: RedisLink;
  readonly #find: (ids: readonly string[]) => Promise<readonly Team[]>;

  /** `find` reads teams by id. */
  constructor(link: RedisLink, find: (ids: readonly string[]) => Promise<readonly Team[]>) {
    this.#link = link;
    this.#find = find;
  }

  /** Adds a team, or updates its line. */
  async add(teamId: string, line: string): Promise<void> {
    for (let indexed = line; ;) {
      const now = await this.#link.ask(async ({ redis, run }) => {
        await run('index_team', { keys: INDEX_KEYS, args: [teamId, indexed] });
        return readLine(redis, teamId);
      });
      // The team may have been renamed or deleted since its line was read: whoever changes it later either updates the index
      // afterwards, or is seen now. So the last one to write the index leaves the present line in it.
      if (now === null) return this.remove(teamId);
      if (now === indexed) return;
      indexed = now;
    }
  }

  /**
   * Corrects the lines of the teams that the index has under another one, because a process stopped between the two writes.
   * `ids` are consecutive in the list of all teams.
   */
  async mend(ids: readonly string[]): Promise<void> {
    const [lines, indexed] = await this.#link.ask(async ({ redis }) => {
      const [positions, found] = await Promise.all([
        redis.zmscore(TEAMS_KEY, ...ids),
        Promise.all(ids.map((teamId) => readLine(redis, teamId))),
      ]);
      const stretches = new Set(positions.filter((position) => position !== null).map((position) => stretchOf(Number(position))));
      return [found, searchedLines(stretches.size === 0 ? [] : await redis.hmget(SEARCHED_KEY, ...stretches))] as const;
    });
    for (const [i, teamId] of ids.entries()) {
      const [now, line] = [lines[i] ?? null, indexed.get(teamId)];
      if (now !== null && line !== undefined && line !== now) await this.add(teamId, now);
    }
  }

  async remove(teamId: string): Promise<void> {
    await this.#link.ask(({ run }) => run('unindex_team', { keys: INDEX_KEYS, args: [teamId] }));
  }

  /** Makes the janitor look at a team whose period may have been cut short. */
  async callJanitor(teamId: string): Promise<void> {
    // Each call has a different score, so that a call made while the janitor looks at the team is not lost. XX: a deleted team
    // must not be listed again.
    await this.#link.ask(({ redis }) => redis.zadd(DUE_KEY, 'XX', -Date.now(), teamId));
  }

  /** Ids starting at rank `first`. */
  ids(first: number, count: number): Promise<readonly string[]> {
    return this.#link.ask(({ redis }) => redis.zrange(TEAMS_KEY, String(first), String(first + count - 1)));
  }

  /** All ids, so many at a time. */
  async *pieces(count: number): AsyncGenerator<readonly string[]> {
    for (let first = 0; ; first += count) {
      const ids = await this.ids(first, count);
      yield ids;
      if (ids.length < count) return;
    }
  }

  /** Fills a page with what `find` returns for its ids; teams deleted since they were listed are replaced by the next ones. */
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
  async page({ after, limit, search, exact }: TeamPage): Promise<readonly string[]> {
    const first = after === undefined ? 0 : await this.#behind(after);
    return search === undefined ? this.ids(first, limit) : this.#search(first, limit, search.toLowerCase(), exact === true);
  }

  /**
   * The rank of the team after this one. If the team has been deleted, the rank of the first team with a higher id, because ids
   * are ordered by time.
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

  /** Searches a part of the teams per call, so that no call blocks the server for long. `first` is a rank. */
  async #search(first: number, limit: number, text: string, exact: boolean): Promise<readonly string[]> {
    const ids: string[] = [];
    let isChecked = false;
    for (let from = `#${first}`; from !== '' && ids.length < limit;) {
      const args = [from, String(SEARCH_PIECE), text, String(limit - ids.length), exact ? '1' : ''];
      const reply = await this.#link.ask(({ run }) => run('find_teams', { keys: [TEAMS_KEY, SEARCHED_KEY], args }));
      const [, named, next, found] = reply as readonly [number, Buffer, Buffer, readonly Buffer[]];
      if (String(named) === 'unnamed' && !isChecked) {
        await this.#nameAll();
      } else {
        ids.push(...found.map(String));
        from = String(next);
      }
      isChecked = true;
    }
    return ids.slice(0, limit);
  }

  /** Adds lines missing from the search: those of teams whose process stopped between the two writes. */
  async #nameAll(): Promise<void> {
    for await (const ids of this.pieces(LIST_PIECE)) {
      const found = await this.#find(ids);
      await Promise.all(found.map((team) => this.add(team.teamId, lineOf(team))));
    }
  }
}
