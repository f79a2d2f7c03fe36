// Reads usage by day and period for operators: of one team, of all teams in pages, or of all teams in bounded memory.
import type { TeamDays, UsageHistory } from '../ports/usage-history.ts';
import { isUnavailable } from '../domain/store-unavailable.ts';
import type { StoreUnavailable } from '../domain/store-unavailable.ts';
import type { TagHistory } from '../ports/tag-history.ts';
import { RowsOfTeams } from './rows-of-teams.ts';
import type { RowPlace } from './rows-of-teams.ts';
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

/** Rows of usage: by keys, by tags, or of whole teams. */
export function rowsOfUsage(
  history: UsageHistory,
  tags: TagHistory | undefined,
  question: UsageQuestion,
): RowsOfTeams<TeamDays, UsageRow, UsageRowAt> {
  const { range, teamId } = question;
  return new RowsOfTeams(
    {
      atOnceMax: Math.min(TEAMS_READ_MAX, Math.floor(TEAM_DAYS_READ / (range.to - range.from + 1))),
      find: (id) => history.days(id, range),
      page: (page) => history.pageDays(page, range),
      teamIdOf: ({ team }) => team.teamId,
      rowsOf: (found) =>
        question.tags === true ? tagged(history, tags, found, question) : found.flatMap((days) => usageRows(days, question)),
      placeOf: ({ team_id: id, date, key_id: keyId, tag }): UsagePlace => ({ teamId: id, row: { date, keyId, tag } }),
      rowsAfter,
    },
    teamId,
  );
}

/** The days of a team with tags are read again, after what its tags have counted, which is then among them. */
async function tagged(
  history: UsageHistory,
  tags: TagHistory | undefined,
  teams: readonly TeamDays[],
  question: UsageQuestion,
): Promise<readonly UsageRow[] | StoreUnavailable> {
  const rowsOf = async (found: TeamDays): Promise<readonly UsageRow[] | StoreUnavailable> => {
    const { teamId } = found.team;
    const counted = (await tags?.days(teamId, question.range)) ?? [];
    if (isUnavailable(counted)) return counted;
    const again = counted.length === 0 ? found : await history.days(teamId, question.range);
    return isUnavailable(again) ? again : tagRows(again ?? found, counted, question);
  };
  // Tags have no row without a day.
  const ofTeams = await Promise.all(teams.filter(({ days }) => days.length > 0).map(rowsOf));
  const unavailable = ofTeams.find((rows) => isUnavailable(rows));
  return unavailable ?? ofTeams.flatMap((rows) => (isUnavailable(rows) ? [] : rows));
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
