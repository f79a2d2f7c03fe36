// Refusals by day over a record space: a record for each UTC day of a team with any.
import { DAY_MS } from '../../domain/period.ts';
import { dateOf, dayOfDate, NO_REFUSALS, REFUSAL_CODES } from '../../domain/usage-days.ts';
import type { DayRange } from '../../domain/usage-days.ts';
import { answeringAll } from '../../domain/store-unavailable.ts';
import type { StoreUnavailable } from '../../domain/store-unavailable.ts';
import type { RecordSpace } from '../../ports/record-space.ts';
import type { RefusalCounts, RefusalDays } from '../../ports/usage-history.ts';
import { RecordGroup, JsonTable } from './json-table.ts';

const DAYS = new JsonTable<Partial<RefusalCounts>>('refusals');

interface RecordRefusals extends RefusalDays {
  /**
   * Adds to the counts of the day in which this moment is; the first of a day also drops those that are too old. Nothing happens
   * if there is no such team. After `unavailable` it may have been added or not.
   */
  add(teamId: string, counts: RefusalCounts, nowMs: number): Promise<StoreUnavailable | undefined>;
}

/** `retainedDays`: `history.days`. */
export function recordRefusals(space: RecordSpace, retainedDays: number): RecordRefusals {
  const daysOf = async (team: RecordGroup, { from, to }: DayRange) =>
    [...(await team.list('refusals'))].filter(([date]) => dayOfDate(date)! >= from && dayOfDate(date)! <= to);
  return answeringAll<RecordRefusals>({
    async sum(teamId, range) {
      const days = await daysOf(new RecordGroup(space, teamId), range);
      return days.map(([, text]): RefusalCounts => ({ ...NO_REFUSALS, ...DAYS.read(text) })).reduce(added, NO_REFUSALS);
    },
    async add(teamId, counts, nowMs) {
      const [team, day] = [new RecordGroup(space, teamId), Math.floor(nowMs / DAY_MS)];
      const isFirst = await DAYS.change(team, dateOf(day), [], (before) => ({
        result: before === undefined,
        next: added({ ...NO_REFUSALS, ...before }, counts),
      }));
      if (isFirst !== true) return;
      const remove = DAYS.names((await daysOf(team, { from: 0, to: day - retainedDays - 1 })).map(([date]) => date));
      if (remove.length > 0) await team.write({ remove });
    },
  });
}

export function added(one: RefusalCounts, other: RefusalCounts): RefusalCounts {
  return Object.fromEntries(REFUSAL_CODES.map((code) => [code, one[code] + other[code]])) as Record<(typeof REFUSAL_CODES)[number], number>;
}
