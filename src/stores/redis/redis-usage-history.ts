// The usage history in Redis: each team is read by one function, so that what it says fits together.
import { dayOf } from '../../domain/period.ts';
import { allAnswered, isUnavailable } from '../../domain/store-unavailable.ts';
import type { StoreUnavailable } from '../../domain/store-unavailable.ts';
import type { TeamPage } from '../../ports/team-registry.ts';
import type { DayRange, KeyDay, PeriodUse, TeamDays, UsageHistory } from '../../ports/usage-history.ts';
import { keyDays } from './key-days.ts';
import { readPeriods } from './period-record.ts';
import { teamKeys } from './redis-keys.ts';
import type { RedisLink } from './redis-link.ts';
import { TEAM_FIELDS, fieldsOf, keysInOrder, readTeam } from './team-codec.ts';
import type { TeamIndex } from './team-index.ts';
import { readKeyState } from './team-layout.ts';

/** Teams that are read at a time: their answers wait in memory, and callers wait behind them. */
const TEAMS_PIECE = 50;

export class RedisUsageHistory implements UsageHistory {
  readonly #link: RedisLink;
  readonly #index: TeamIndex;
  readonly #keptDays: number;

  /** `keptDays`: older days are not told, whether they have been cleared away or not. */
  constructor(link: RedisLink, index: TeamIndex, keptDays: number) {
    this.#link = link;
    this.#index = index;
    this.#keptDays = keptDays;
  }

  async days(teamId: string, range: DayRange): Promise<TeamDays | undefined | StoreUnavailable> {
    const { team, keys, days } = teamKeys(teamId);
    const reply = await this.#link.call({ name: 'usage_days', teamId, keys: [team, keys, days], args: [] });
    if (reply.kind === 'unavailable') return reply;
    return reply.word === 'none' ? undefined : readTeamDays(teamId, reply.values, range, this.#keptDays);
  }

  async pageDays(page: TeamPage, range: DayRange): Promise<readonly TeamDays[] | StoreUnavailable> {
    const ids = await this.#index.page(page);
    if (isUnavailable(ids)) return ids;
    const found: TeamDays[] = [];
    for (let first = 0; first < ids.length; first += TEAMS_PIECE) {
      const piece = allAnswered(await Promise.all(ids.slice(first, first + TEAMS_PIECE).map((teamId) => this.days(teamId, range))));
      if (isUnavailable(piece)) return piece;
      found.push(...piece.filter((team) => team !== undefined));
    }
    return found;
  }

  /** Closes what can be closed, too: what is answered does not depend on when the janitor came by. */
  async periods(teamId: string): Promise<readonly PeriodUse[] | undefined | StoreUnavailable> {
    const reply = await this.#link.call({ name: 'periods', teamId, keys: [teamKeys(teamId).team], args: [] });
    if (reply.kind === 'unavailable') return reply;
    return reply.word === 'none' ? undefined : readPeriods(reply.values, this.#keptDays);
  }
}

function readTeamDays(teamId: string, values: readonly unknown[], { from, to }: DayRange, keptDays: number): TeamDays {
  const [fields, records, stored] = [fieldsOf(values[1]), fieldsOf(values[2]), fieldsOf(values[3])];
  const first = Math.max(from, dayOf(Number(String(values[0]))) - keptDays);
  const keys = keysInOrder(teamId, records, fields);
  const rows: KeyDay[] = [];
  for (const { keyId } of keys) {
    const state = fields.get(`k${keyId}`);
    const counts = keyDays(stored.get(keyId), state && readKeyState(state));
    for (const row of counts) if (row.day >= first && row.day <= to) rows.push({ ...row, keyId });
  }
  const used = new Set(rows.map(({ keyId }) => keyId));
  return {
    team: readTeam(
      teamId,
      TEAM_FIELDS.map((name) => fields.get(name)),
    ),
    keys: keys.filter(({ keyId }) => used.has(keyId)),
    // The sort is stable: within a day the keys stay in their order.
    days: rows.toSorted((one, other) => one.day - other.day),
  };
}
