// Reads usage by day and period for operators: of one team, of all teams in pages, or of all teams in bounded memory.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { isUnavailable } from '../domain/store-unavailable.ts';
import type { StoreUnavailable } from '../domain/store-unavailable.ts';
import type { DayRange } from '../domain/usage-days.ts';
import type { PeriodUse, TeamDays, UsageHistory } from '../ports/usage-history.ts';
import { done, ofTeam } from './admin-result.ts';
import type { AdminResult } from './admin-result.ts';
import { usageRows } from './usage-rows.ts';
import type { UsageQuestion, UsageRow } from './usage-rows.ts';

/** The last row of the previous page: the rows after it are the same whatever teams are created meanwhile. */
export interface UsagePlace {
  readonly teamId: string;
  /** `undefined`: after all rows of the team. */
  readonly row: { readonly date: string | null; readonly keyId: string | undefined } | undefined;
}

export interface UsagePage {
  readonly rows: readonly UsageRow[];
  /** Where the next page begins, if there is one. */
  readonly next: UsagePlace | undefined;
}

/** The rows of the teams that were read together. */
export interface UsagePart {
  readonly rows: readonly UsageRow[];
  /** How many teams have been read so far, including those without usage. */
  readonly teams: number;
}

/** How many teams are read together: their usage is in memory at once, and a database may be busy with them for as long. */
const TEAM_DAYS_READ = 3000;
const TEAMS_READ_MAX = 100;
/** A page ends after this many teams, however few rows they have: most of 100,000 teams may have no usage. */
const TEAMS_OF_PAGE_MAX = 5000;

export class UsageReading {
  readonly #history: UsageHistory;

  constructor(history: UsageHistory) {
    this.#history = history;
  }

  async days(teamId: string, range: DayRange): Promise<AdminResult<TeamDays>> {
    return ofTeam(teamId, await this.#history.days(teamId, range));
  }

  /** Newest first. */
  async periods(teamId: string): Promise<AdminResult<readonly PeriodUse[]>> {
    return ofTeam(teamId, await this.#history.periods(teamId));
  }

  /** At most `limit` rows; fewer if many teams without usage lie between, which does not mean that this is the last page. */
  async page(question: UsageQuestion, after: UsagePlace | undefined, limit: number): Promise<AdminResult<UsagePage>> {
    const rows: UsageRow[] = [];
    for await (const part of this.walk(question, after, limit + 1)) {
      if (part.kind !== 'done') return part;
      rows.push(...part.value.rows);
      if (rows.length > limit) return done({ rows: rows.slice(0, limit), next: placeOf(rows[limit - 1]!) });
      const { lastTeamId, teams } = part.value;
      if (teams >= TEAMS_OF_PAGE_MAX) return done({ rows, next: { teamId: lastTeamId, row: undefined } });
    }
    return done({ rows, next: undefined });
  }

  /** All rows, in parts; ends after the first part that is a refusal. `atOnceMax` limits the teams of a part. */
  async *walk(
    question: UsageQuestion,
    after?: UsagePlace,
    atOnceMax = TEAMS_READ_MAX,
  ): AsyncGenerator<AdminResult<UsagePart & { readonly lastTeamId: string }>, void, void> {
    const history = this.#history;
    const { range, teamId } = question;
    let [teams, last]: [number, string | undefined] = [0, after?.teamId];
    const first = teamId ?? (after?.row === undefined ? undefined : after.teamId);
    if (first !== undefined) {
      const found = await history.days(first, range);
      if (isUnavailable(found)) return yield found;
      if (found === undefined && teamId !== undefined) return yield { kind: 'no_such_team', teamId };
      // A team that was deleted since the previous page has no rows left.
      if (found !== undefined) yield done({ rows: rowsBehind(usageRows(found, question), after), teams: ++teams, lastTeamId: first });
      if (teamId !== undefined) return;
    }
    const limit = Math.max(1, Math.min(atOnceMax, TEAMS_READ_MAX, Math.floor(TEAM_DAYS_READ / (range.to - range.from + 1))));
    for (;;) {
      const found: readonly TeamDays[] | StoreUnavailable = await history.pageDays({ after: last, limit, search: undefined }, range);
      if (isUnavailable(found)) return yield found;
      if (found.length === 0) return;
      teams += found.length;
      last = found.at(-1)!.team.teamId;
      yield done({ rows: found.flatMap((one) => usageRows(one, question)), teams, lastTeamId: last });
      if (found.length < limit) return;
      // A store that answers synchronously would keep everyone else waiting until the last team.
      await nextTurn();
    }
  }
}

function placeOf({ team_id: teamId, date, key_id: keyId }: UsageRow): UsagePlace {
  return { teamId, row: { date, keyId } };
}

function rowsBehind(rows: readonly UsageRow[], after: UsagePlace | undefined): readonly UsageRow[] {
  if (after === undefined || rows[0]?.team_id !== after.teamId) return rows;
  if (after.row === undefined) return [];
  const { date, keyId } = after.row;
  const at = rows.findIndex((row) => row.date === date && row.key_id === keyId);
  // The row itself may have been deleted: days are kept for a limited time.
  return at === -1 ? rows.filter((row) => (row.date ?? '') > (date ?? '')) : rows.slice(at + 1);
}
