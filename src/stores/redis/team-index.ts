// The list of all teams in order of creation, in a cluster slot of its own. Searching it is a scan.
import type { Team, TeamPage } from '../../ports/team-registry.ts';
import { groupKey, TEAMS_KEY } from './redis-keys.ts';
import type { RedisLink } from './redis-link.ts';

/** How many teams are read at a time. */
const PIECE = 200;
const PIECE_MIN = 20;

export class TeamIndex {
  readonly #link: RedisLink;

  constructor(link: RedisLink) {
    this.#link = link;
  }

  /** A new team, or one that is there. */
  async add(teamId: string): Promise<void> {
    await this.#link.ask(() => this.#link.functions.run('list_team', [TEAMS_KEY], [teamId]));
  }

  /** One of which nothing is left. It stays if it has come back meanwhile. */
  async remove(teamId: string): Promise<void> {
    await this.#link.ask((redis) => redis.zrem(TEAMS_KEY, teamId));
    if ((await this.#link.ask((redis) => redis.exists(groupKey(teamId)))) === 1) await this.add(teamId);
  }

  /** All ids, so many at a time, also while some are removed. */
  async *pieces(): AsyncGenerator<readonly string[]> {
    for (let last = '-inf', isWhole = true; isWhole;) {
      const found = await this.#link.ask((redis) => redis.zrangebyscore(TEAMS_KEY, `(${last}`, '+inf', 'WITHSCORES', 'LIMIT', 0, PIECE));
      yield found.filter((_, i) => i % 2 === 0);
      isWhole = found.length === 2 * PIECE;
      last = found.at(-1) ?? last;
    }
  }

  /** What `find` finds of the teams behind the page's last one, until the page is full. */
  async page<T>({ after, limit }: Pick<TeamPage, 'after' | 'limit'>, find: (teamId: string) => Promise<T | undefined>): Promise<T[]> {
    const found: T[] = [];
    const count = Math.min(PIECE, Math.max(limit, PIECE_MIN));
    for (let first = after === undefined ? 0 : await this.#behind(after, find); found.length < limit; first += count) {
      const ids = await this.#link.ask((redis) => redis.zrange(TEAMS_KEY, String(first), String(first + count - 1)));
      if (ids.length === 0) break;
      const teams = await Promise.all(ids.map((teamId) => readable(find(teamId))));
      for (const team of teams) if (team !== undefined && found.length < limit) found.push(team);
    }
    return found;
  }

  /**
   * The rank behind this team. If it has been deleted, that of the first team with a higher id, because ids are ordered by time; it may
   * still be listed for its usage.
   */
  async #behind(teamId: string, find: (teamId: string) => Promise<unknown>): Promise<number> {
    const known = await this.#link.ask((redis) => redis.zrank(TEAMS_KEY, teamId));
    if (known !== null && (await readable(find(teamId))) !== undefined) return known + 1;
    let rank = 0;
    for await (const ids of this.pieces()) {
      const at = ids.findIndex((id) => id > teamId);
      if (at !== -1) return rank + at;
      rank += ids.length;
    }
    return rank;
  }
}

/** A team whose record cannot be read is in no list; `lingate store check` names it. */
async function readable<T>(found: Promise<T>): Promise<T | undefined> {
  try {
    return await found;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Whether a page's search finds the team. */
export function isFound({ name, reference, teamId }: Pick<Team, 'name' | 'reference' | 'teamId'>, { search, exact }: TeamPage): boolean {
  if (search === undefined) return true;
  const text = lower(search);
  if (exact === true) return lower(name) === text || (reference !== undefined && lower(reference) === text);
  return lower([name, reference ?? '', teamId].join('\n')).includes(text);
}

/** ASCII letters only, as in every store. */
function lower(text: string): string {
  return text.replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase());
}
