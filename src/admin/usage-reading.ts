// Reads usage by day and period for operators: of one team, of all teams in pages, or of all teams in bounded memory.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { isUnavailable } from '../domain/store-unavailable.ts';
import type { StoreUnavailable } from '../domain/store-unavailable.ts';
import type { DayRange } from '../domain/usage-days.ts';
import type { PeriodUse, TeamDays, UsageHistory } from '../ports/usage-history.ts';
import type { TagHistory } from '../ports/tag-history.ts';
import { done, ofTeam } from './admin-result.ts';
import type { AdminRefusal, AdminResult } from './admin-result.ts';
import { tagRows, usageRows } from './usage-rows.ts';
import type { UsageQuestion, UsageRow } from './usage-rows.ts';

/** The last row of the previous page: the rows after it are the same whatever teams are created meanwhile. */
export interface UsagePlace {
  readonly teamId: string;
  /** `undefined`: after all rows of the team. */
  readonly row: { readonly date: string | null; readonly keyId: string | undefined; readonly tag?: string | null | undefined } | undefined;
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

const NO_HISTORY: AdminRefusal = { kind: 'no_history' };
/** How many teams are read together: their usage is in memory at once, and a database may be busy with them for as long. */
const TEAM_DAYS_READ = 3000;
const TEAMS_READ_MAX = 100;
/** A page ends after this many teams, however few rows they have: most of 100,000 teams may have no usage. */
const TEAMS_OF_PAGE_MAX = 5000;

export class UsageReading {
  readonly #history: UsageHistory | undefined;
  readonly #tags: TagHistory | undefined;

  /** `undefined` if the store keeps no history. */
  constructor(history: UsageHistory | undefined, tags?: TagHistory) {
    this.#history = history;
    this.#tags = tags;
  }

  async days(teamId: string, range: DayRange): Promise<AdminResult<TeamDays>> {
    return this.#history === undefined ? NO_HISTORY : ofTeam(teamId, await this.#history.days(teamId, range));
  }

  /** Newest first. */
  async periods(teamId: string): Promise<AdminResult<readonly PeriodUse[]>> {
    return this.#history === undefined ? NO_HISTORY : ofTeam(teamId, await this.#history.periods(teamId));
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
    if (history === undefined) return yield NO_HISTORY;
    const { range, teamId } = question;
    let [teams, last]: [number, string | undefined] = [0, after?.teamId];
    const first = teamId ?? (after?.row === undefined ? undefined : after.teamId);
    if (first !== undefined) {
      const found = await history.days(first, range);
      if (isUnavailable(found)) return yield found;
      if (found === undefined && teamId !== undefined) return yield { kind: 'no_such_team', teamId };
      // A team that was deleted since the previous page has no rows left.
      if (found !== undefined) {
        const rows = await this.#rowsOf(history, found, question);
        if (isUnavailable(rows)) return yield rows;
        yield done({ rows: rowsBehind(rows, after), teams: ++teams, lastTeamId: first });
      }
      if (teamId !== undefined) return;
    }
    const limit = Math.max(1, Math.min(atOnceMax, TEAMS_READ_MAX, Math.floor(TEAM_DAYS_READ / (range.to - range.from + 1))));
    for (;;) {
      const found: readonly TeamDays[] | StoreUnavailable = await history.pageDays({ after: last, limit, search: undefined }, range);
      if (isUnavailable(found)) return yield found;
      if (found.length === 0) return;
      teams += found.length;
      last = found.at(-1)!.team.teamId;
      const rows: UsageRow[] = [];
      for (const one of found) {
        const own = question.tags === true ? await this.#rowsOf(history, one, question) : usageRows(one, question);
        if (isUnavailable(own)) return yield own;
        rows.push(...own);
      }
      yield done({ rows, teams, lastTeamId: last });
      if (found.length < limit) return;
      // A store that answers synchronously would keep everyone else waiting until the last team.
      await nextTurn();
    }
  }

  /** The days of a team with tags are read again, after what its tags have counted, which is then among them. */
  async #rowsOf(history: UsageHistory, found: TeamDays, question: UsageQuestion): Promise<readonly UsageRow[] | StoreUnavailable> {
    if (question.tags !== true) return usageRows(found, question);
    const tagged = (await this.#tags?.days(found.team.teamId, question.range)) ?? [];
    if (isUnavailable(tagged)) return tagged;
    if (tagged.length === 0) return tagRows(found, [], question);
    const again = await history.days(found.team.teamId, question.range);
    return isUnavailable(again) ? again : tagRows(again ?? found, tagged, question);
  }
}

function placeOf({ team_id: teamId, date, key_id: keyId, tag }: UsageRow): UsagePlace {
  return { teamId, row: { date, keyId, ...(tag === undefined ? {} : { tag }) } };
}

function rowsBehind(rows: readonly UsageRow[], after: UsagePlace | undefined): readonly UsageRow[] {
  if (after === undefined || rows[0]?.team_id !== after.teamId) return rows;
  if (after.row === undefined) return [];
  const { date, keyId, tag } = after.row;
  const at = rows.findIndex((row) => row.date === date && row.key_id === keyId && row.tag === tag);
  // The row itself may have been deleted: days are kept for a limited time.
  return at === -1 ? rows.filter((row) => (row.date ?? '') > (date ?? '')) : rows.slice(at + 1);
}
