// Reads usage by day and period for operators: of one team, of all teams in pages, or of all teams in bounded memory.
import type { DayRange } from '../domain/usage-days.ts';
import type { PeriodUse, TeamDays, UsageHistory } from '../ports/usage-history.ts';
import { ofTeam } from './admin-result.ts';
import type { AdminRefusal, AdminResult } from './admin-result.ts';
import { RowsOfTeams } from './rows-of-teams.ts';
import type { RowPage, RowPart, RowPlace } from './rows-of-teams.ts';
import { usageRows } from './usage-rows.ts';
import type { UsageQuestion, UsageRow } from './usage-rows.ts';

/** Which row of a team: its date, and in rows of keys its key. */
interface UsageRowAt {
  readonly date: string | null;
  readonly keyId: string | undefined;
}

/** A page of rows. */
export type UsagePage = RowPage<UsageRow, UsageRowAt>;

/** The last row of the previous page. */
export type UsagePlace = RowPlace<UsageRowAt>;

const NO_HISTORY: AdminRefusal = { kind: 'no_history' };
/** How many teams are read together: their usage is in memory at once, and a database may be busy with them for as long. */
const TEAM_DAYS_READ = 3000;
const TEAMS_READ_MAX = 100;

export class UsageReading {
  readonly #history: UsageHistory | undefined;

  /** `undefined` if the store keeps no history. */
  constructor(history: UsageHistory | undefined) {
    this.#history = history;
  }

  async days(teamId: string, range: DayRange): Promise<AdminResult<TeamDays>> {
    return this.#history === undefined ? NO_HISTORY : ofTeam(teamId, await this.#history.days(teamId, range));
  }

  /** Newest first. */
  async periods(teamId: string): Promise<AdminResult<readonly PeriodUse[]>> {
    return this.#history === undefined ? NO_HISTORY : ofTeam(teamId, await this.#history.periods(teamId));
  }

  /** At most `limit` rows, see `RowsOfTeams`. */
  async page(question: UsageQuestion, after: UsagePlace | undefined, limit: number): Promise<AdminResult<UsagePage>> {
    return this.#history === undefined ? NO_HISTORY : rowsOf(this.#history, question).page(after, limit);
  }

  /** All rows, in parts; ends after the first part that is a refusal. */
  async *walk(question: UsageQuestion): AsyncGenerator<AdminResult<RowPart<UsageRow>>, void, void> {
    if (this.#history === undefined) yield NO_HISTORY;
    else yield* rowsOf(this.#history, question).walk();
  }
}

function rowsOf(history: UsageHistory, question: UsageQuestion): RowsOfTeams<TeamDays, UsageRow, UsageRowAt> {
  const { range, teamId } = question;
  return new RowsOfTeams(
    {
      atOnceMax: Math.min(TEAMS_READ_MAX, Math.floor(TEAM_DAYS_READ / (range.to - range.from + 1))),
      find: (id) => history.days(id, range),
      page: (page) => history.pageDays(page, range),
      teamIdOf: ({ team }) => team.teamId,
      rowsOf: (days) => usageRows(days, question),
      placeOf: ({ team_id: id, date, key_id: keyId }) => ({ teamId: id, row: { date, keyId } }),
      rowsAfter,
    },
    teamId,
  );
}

function rowsAfter(rows: readonly UsageRow[], { date, keyId }: UsageRowAt): readonly UsageRow[] {
  const at = rows.findIndex((row) => row.date === date && row.key_id === keyId);
  // The row itself may have been deleted: days are kept for a limited time.
  return at === -1 ? rows.filter((row) => (row.date ?? '') > (date ?? '')) : rows.slice(at + 1);
}
