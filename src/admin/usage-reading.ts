// Reads usage by day and period for operators: of one team, of all teams in pages, or of all teams in bounded memory.
import type { DayRange } from '../domain/usage-days.ts';
import type { PeriodUse, TeamDays, UsageHistory } from '../ports/usage-history.ts';
import { isUnavailable } from '../domain/store-unavailable.ts';
import type { StoreUnavailable } from '../domain/store-unavailable.ts';
import type { TagDay, TagHistory } from '../ports/tag-history.ts';
import { RowsOfTeams } from './rows-of-teams.ts';
import type { RowPlace } from './rows-of-teams.ts';
import { done, noSuch } from './operation.ts';
import type { ListedPage, Result, RowPart } from './operation.ts';
import { tagRows, usageRows } from './usage-rows.ts';
import type { UsageQuestion, UsageRow } from './usage-rows.ts';

/** Which row of a team: its date, in rows of keys its key, in rows of tags its tag. */
interface UsageRowAt {
  readonly date: string | null;
  readonly keyId: string | undefined;
  readonly tag?: string | null | undefined;
}

/** The last row of the previous page. */
export type UsagePlace = RowPlace<UsageRowAt>;

/** How many teams are read together: event loop or Redis are busy with them for less than a millisecond, and callers wait. */
const TEAM_DAYS_READ = 150;
const TEAMS_READ_MAX = 10;

export class UsageReading {
  readonly #history: UsageHistory;
  readonly #tags: TagHistory | undefined;

  constructor(history: UsageHistory, tags?: TagHistory) {
    this.#history = history;
    this.#tags = tags;
  }

  async days(teamId: string, range: DayRange): Promise<Result<TeamDays>> {
    return ofTeam(teamId, await this.#history.days(teamId, range));
  }

  /** In order of days, and within a day of tags; none for a team that does not exist. */
  async tagDays(teamId: string, range: DayRange): Promise<Result<readonly TagDay[]>> {
    const found = (await this.#tags?.days(teamId, range)) ?? [];
    return isUnavailable(found) ? found : done(found);
  }

  /** Newest first. */
  async periods(teamId: string): Promise<Result<readonly PeriodUse[]>> {
    return ofTeam(teamId, await this.#history.periods(teamId));
  }

  /** At most `limit` rows, see `RowsOfTeams`. */
  async page(question: UsageQuestion, after: UsagePlace | undefined, limit: number): Promise<Result<ListedPage<UsageRow>>> {
    return this.#rowsOf(this.#history, question).page(after, limit);
  }

  /** All rows, in parts; ends after the first part that is a refusal. */
  async *walk(question: UsageQuestion): AsyncGenerator<Result<RowPart<UsageRow>>, void, void> {
    yield* this.#rowsOf(this.#history, question).walk();
  }

  #rowsOf(history: UsageHistory, question: UsageQuestion): RowsOfTeams<TeamDays, UsageRow, UsageRowAt> {
    const { range, teamId } = question;
    return new RowsOfTeams(
      {
        atOnceMax: Math.min(TEAMS_READ_MAX, Math.floor(TEAM_DAYS_READ / (range.to - range.from + 1))),
        find: (id) => history.days(id, range),
        page: (page) => history.pageDays(page, range),
        teamIdOf: ({ team }) => team.teamId,
        rowsOf: (found) =>
          question.tags === true ? this.#tagged(history, found, question) : found.flatMap((days) => usageRows(days, question)),
        placeOf: ({ team_id: id, date, key_id: keyId, tag }): UsagePlace => ({
          teamId: id,
          row: { date, keyId, ...(tag === undefined ? {} : { tag }) },
        }),
        rowsAfter,
      },
      teamId,
    );
  }

  /** The days of a team with tags are read again, after what its tags have counted, which is then among them. */
  async #tagged(
    history: UsageHistory,
    teams: readonly TeamDays[],
    question: UsageQuestion,
  ): Promise<readonly UsageRow[] | StoreUnavailable> {
    const ofTeams = await Promise.all(
      // Tags have no row without a day.
      teams.flatMap((found) => (found.days.length === 0 ? [] : [this.#taggedOf(history, found, question)])),
    );
    const unavailable = ofTeams.find((rows) => isUnavailable(rows));
    return unavailable ?? ofTeams.flatMap((rows) => (isUnavailable(rows) ? [] : rows));
  }

  async #taggedOf(history: UsageHistory, found: TeamDays, question: UsageQuestion): Promise<readonly UsageRow[] | StoreUnavailable> {
    const { teamId } = found.team;
    const tagged = (await this.#tags?.days(teamId, question.range)) ?? [];
    if (isUnavailable(tagged)) return tagged;
    const again = tagged.length === 0 ? found : await history.days(teamId, question.range);
    return isUnavailable(again) ? again : tagRows(again ?? found, tagged, question);
  }
}

function rowsAfter(rows: readonly UsageRow[], { date, keyId, tag }: UsageRowAt): readonly UsageRow[] {
  const at = rows.findIndex((row) => row.date === date && row.key_id === keyId && row.tag === tag);
  // The row itself may have been deleted: days are kept for a limited time.
  return at === -1
    ? rows.filter((row) => (row.date ?? '') > (date ?? '') || (row.date === date && isTagAfter(row.tag, tag)))
    : rows.slice(at + 1);
}

/** Tags are in order, and what has none comes last. */
function isTagAfter(tag: UsageRow['tag'], last: UsageRowAt['tag']): boolean {
  return typeof last === 'string' && tag !== undefined && (tag === null || tag > last);
}

/** What the history has of a team. */
function ofTeam<T extends object>(teamId: string, found: T | undefined | StoreUnavailable): Result<T> {
  if (found === undefined) return noSuch('team', teamId);
  return isUnavailable(found) ? found : done(found);
}
