// Refusals by day over a record space: a record for each UTC day of a team with any.
import { DAY_MS } from '../../domain/period.ts';
import { dateOf, dayOfDate, NO_REFUSALS, REFUSAL_CODES } from '../../domain/usage-days.ts';
import type { DayRange } from '../../domain/usage-days.ts';
import { answered, answering } from '../../domain/store-unavailable.ts';
import type { StoreUnavailable } from '../../domain/store-unavailable.ts';
import type { RecordSpace } from '../../ports/record-space.ts';
import type { RefusalCounts, RefusalDays } from '../../ports/refusal-days.ts';
import { JsonTable } from './json-table.ts';

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
  const daysOf = async (teamId: string, { from, to }: DayRange): Promise<[date: string, text: string][]> => {
    const all = answered(await space.list(teamId, 'refusals'));
    return [...all].filter(([date]) => dayOfDate(date)! >= from && dayOfDate(date)! <= to);
  };
  return {
    sum: (teamId, range) =>
      answering(async () => (await daysOf(teamId, range)).map(([, text]) => readRefusals(text)).reduce(added, NO_REFUSALS)),
    add: (teamId, counts, nowMs) =>
      answering(async () => {
        const day = Math.floor(nowMs / DAY_MS);
        const change = await space.change(teamId, [DAYS.name(dateOf(day))], ([before]) => ({
          result: before === undefined,
          ...DAYS.put(dateOf(day), added(readRefusals(before), counts)),
        }));
        if (answered(change) !== true) return undefined;
        const remove = DAYS.names((await daysOf(teamId, { from: 0, to: day - retainedDays - 1 })).map(([date]) => date));
        if (remove.length > 0) answered(await space.change(teamId, [], () => ({ result: true, remove })));
        return undefined;
      }),
  };
}

/** The counts of a record. */
function readRefusals(text: string | undefined): RefusalCounts {
  return { ...NO_REFUSALS, ...DAYS.read(text) };
}

export function added(one: RefusalCounts, other: RefusalCounts): RefusalCounts {
  return Object.fromEntries(REFUSAL_CODES.map((code) => [code, one[code] + other[code]])) as Record<(typeof REFUSAL_CODES)[number], number>;
}
