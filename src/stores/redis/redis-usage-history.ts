// The usage history in Redis. One function reads each team, so that the result is consistent.
import { dayOf } from '../../domain/period.ts';
import { isInSpan } from '../../domain/period-span.ts';
import { answering } from '../../domain/store-unavailable.ts';
import type { StoreUnavailable } from '../../domain/store-unavailable.ts';
import type { Team, TeamPage } from '../../ports/team-registry.ts';
import type { DayRange, KeyDay, PeriodSpan, PeriodUse, TeamDays, TeamPeriods, UsageHistory } from '../../ports/usage-history.ts';
import { keyDays } from './key-days.ts';
import { readKeptPeriods, readPeriods } from './period-record.ts';
import { ONLY_USAGE_KEY, teamKeys } from './redis-keys.ts';
import type { RedisLink } from './redis-link.ts';
import { fieldsOf, keysInOrder, readTeam } from './team-codec.ts';
import type { TeamIndex } from './team-index.ts';
import { DESCRIPTION, readKeyState } from './team-layout.ts';

/** Teams read at a time: their replies are held in memory, and other callers wait behind them. */
const TEAMS_PIECE = 50;
/** Deleted teams searched at a time. */
const DELETED_PIECE = 100;
const NOTHING = Buffer.alloc(0);

export class RedisUsageHistory implements UsageHistory {
  readonly #link: RedisLink;
  readonly #index: TeamIndex;
  readonly #keptDays: number;

  /** `keptDays`: older days are omitted, whether they have been cleared or not. */
  constructor(link: RedisLink, index: TeamIndex, keptDays: number) {
    this.#link = link;
    this.#index = index;
    this.#keptDays = keptDays;
  }

  days(teamId: string, range: DayRange): Promise<TeamDays | undefined | StoreUnavailable> {
    return answering(() => this.#days(teamId, range));
  }

  async #days(teamId: string, range: DayRange): Promise<TeamDays | undefined> {
    const { team, keys, days } = teamKeys(teamId);
    const { word, values } = await this.#link.call({ name: 'usage_days', teamId, keys: [team, keys, days], args: [] });
    return word === 'none' ? undefined : readTeamDays(teamId, values, range, this.#keptDays);
  }

  /** Deleted teams whose usage was kept are sorted by id among the others; ids follow the order of creation. */
  pageDays(page: TeamPage, range: DayRange): Promise<readonly TeamDays[] | StoreUnavailable> {
    return this.#page(page, (teamId) => this.#days(teamId, range));
  }

  pagePeriods(page: TeamPage, span: PeriodSpan): Promise<readonly TeamPeriods[] | StoreUnavailable> {
    return this.#page(page, async (teamId) => {
      const found = await this.#periods(teamId);
      return found && { ...found, periods: found.periods.filter((one) => isInSpan(one, span)).toReversed() };
    });
  }

  #page<T extends { readonly team: Team }>(page: TeamPage, read: ReadTeam<T>): Promise<readonly T[] | StoreUnavailable> {
    return answering(async () => {
      const living = this.#index.full(page, (ids) => each(ids, read));
      const [teams, deleted] = await Promise.all([living, this.#deleted(page, read)]);
      const merged: T[] = [];
      let next = 0;
      for (const one of teams) {
        while (next < deleted.length && deleted[next]!.team.teamId < one.team.teamId) merged.push(deleted[next++]!);
        merged.push(one);
      }
      return [...merged, ...deleted.slice(next)].slice(0, page.limit);
    });
  }

  async #deleted<T>({ after, limit, search }: TeamPage, read: ReadTeam<T>): Promise<readonly T[]> {
    const found: T[] = [];
    for (let from = after; ;) {
      const start = from === undefined ? '-' : `(${from}`;
      const ids = await this.#link.ask(({ redis }) => redis.zrangebylex(ONLY_USAGE_KEY, start, '+', 'LIMIT', 0, DELETED_PIECE));
      const wanted = ids.filter((id) => search === undefined || id.includes(search.toUpperCase()));
      found.push(...(await each(wanted, read)));
      from = ids.at(-1);
      if (ids.length < DELETED_PIECE || found.length >= limit) return found.slice(0, limit);
    }
  }

  /** Closes periods that can be closed first, so that the answer does not depend on when the janitor last ran. */
  periods(teamId: string): Promise<readonly PeriodUse[] | undefined | StoreUnavailable> {
    return answering(async () => (await this.#periods(teamId))?.periods);
  }

  async #periods(teamId: string): Promise<TeamPeriods | undefined> {
    const keys = [teamKeys(teamId).team];
    const { word, values } = await this.#link.call({ name: 'periods', teamId, keys, args: [] });
    if (word !== 'none') {
      return { team: teamIn(teamId, fieldsOf(values[1])), deleted: false, periods: readPeriods(values, this.#keptDays) };
    }
    const kept = await this.#link.call({ name: 'kept_periods', teamId, keys, args: [] });
    if (kept.word === 'none') return undefined;
    return { team: teamIn(teamId, fieldsOf(kept.values[1])), deleted: true, periods: readKeptPeriods(kept.values, this.#keptDays) };
  }
}

type ReadTeam<T> = (teamId: string) => Promise<T | undefined>;

/** Some at a time; omits those that are gone. */
async function each<T>(ids: readonly string[], read: ReadTeam<T>): Promise<readonly T[]> {
  const found: T[] = [];
  for (let first = 0; first < ids.length; first += TEAMS_PIECE) {
    const piece = await Promise.all(ids.slice(first, first + TEAMS_PIECE).map(read));
    found.push(...piece.filter((team) => team !== undefined));
  }
  return found;
}

/** A deleted team has no name, and its other fields have a prefix. */
function teamIn(teamId: string, fields: ReadonlyMap<string, Buffer>): Team {
  return readTeam(
    teamId,
    DESCRIPTION.map((name) => fields.get(name) ?? fields.get(`erased_${name}`) ?? NOTHING),
  );
}

function readTeamDays(teamId: string, values: readonly unknown[], { from, to }: DayRange, keptDays: number): TeamDays {
  const [fields, records, stored] = [fieldsOf(values[1]), fieldsOf(values[2]), fieldsOf(values[3])];
  const first = Math.max(from, dayOf(Number(String(values[0]))) - keptDays);
  const keys = keysInOrder(teamId, records, fields, Number(String(values[0])));
  const rows: KeyDay[] = [];
  for (const { keyId } of keys) {
    const state = fields.get(`k${keyId}`);
    const counts = keyDays(stored.get(keyId), state && readKeyState(state));
    for (const row of counts) if (row.day >= first && row.day <= to) rows.push({ ...row, keyId });
  }
  const used = new Set(rows.map(({ keyId }) => keyId));
  return {
    team: teamIn(teamId, fields),
    keys: keys.filter(({ keyId }) => used.has(keyId)),
    // The sort is stable: within a day, keys stay in order.
    days: rows.toSorted((one, other) => one.day - other.day),
  };
}
