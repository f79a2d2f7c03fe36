// Refusals by day over a record space: a record for each UTC day of a team with any.
import { DAY_MS } from '../../domain/period.ts';
import { dateOf, dayOfDate, NO_REFUSALS, REFUSAL_CODES } from '../../domain/usage-days.ts';
import type { DayRange } from '../../domain/usage-days.ts';
import { isUnavailable } from '../../domain/store-unavailable.ts';
import type { StoreUnavailable } from '../../domain/store-unavailable.ts';
import type { RecordName, RecordSpace } from '../../ports/record-space.ts';
import type { RefusalCounts, RefusalDays } from '../../ports/refusal-days.ts';

const TABLE = 'refusals';

export class RecordRefusals implements RefusalDays {
  readonly #space: RecordSpace;
  readonly #keptDays: number;

  /** `keptDays`: how many days are kept (`history.days`). */
  constructor(space: RecordSpace, keptDays: number) {
    this.#space = space;
    this.#keptDays = keptDays;
  }

  async sum(teamId: string, { from, to }: DayRange): Promise<RefusalCounts | StoreUnavailable> {
    const found = await this.#space.list(teamId, TABLE);
    if (isUnavailable(found)) return found;
    const inRange = [...found].filter(([date]) => isBetween(dayOfDate(date), from, to));
    return inRange.map(([, text]) => readRefusals(text)).reduce(added, NO_REFUSALS);
  }

  /**
   * Adds to the counts of the day in which this moment is; the first of a day also drops those that are too old. Nothing happens
   * if there is no such team. After `unavailable` it may have been added or not.
   */
  async add(teamId: string, counts: RefusalCounts, nowMs: number): Promise<StoreUnavailable | undefined> {
    const day = Math.floor(nowMs / DAY_MS);
    const name: RecordName = { table: TABLE, id: dateOf(day) };
    const isNew = await this.#space.change(teamId, [name], ([before]) => ({
      result: before === undefined,
      put: [{ ...name, value: JSON.stringify(added(readRefusals(before), counts)) }],
    }));
    if (isUnavailable(isNew)) return isNew;
    return isNew === true ? this.#dropBefore(teamId, day - this.#keptDays) : undefined;
  }

  async #dropBefore(teamId: string, first: number): Promise<StoreUnavailable | undefined> {
    const found = await this.#space.list(teamId, TABLE);
    if (isUnavailable(found)) return found;
    const old = [...found.keys()].filter((date) => isBetween(dayOfDate(date), 0, first - 1)).map((id) => ({ table: TABLE, id }) as const);
    if (old.length === 0) return undefined;
    const dropped = await this.#space.change(teamId, [], () => ({ result: true, remove: old }));
    return isUnavailable(dropped) ? dropped : undefined;
  }
}

/** The counts of a record. */
export function readRefusals(text: string | undefined): RefusalCounts {
  return text === undefined ? NO_REFUSALS : { ...NO_REFUSALS, ...(JSON.parse(text) as Partial<RefusalCounts>) };
}

export function added(one: RefusalCounts, other: RefusalCounts): RefusalCounts {
  return Object.fromEntries(REFUSAL_CODES.map((code) => [code, one[code] + other[code]])) as Record<(typeof REFUSAL_CODES)[number], number>;
}

function isBetween(day: number | undefined, from: number, to: number): boolean {
  return day !== undefined && day >= from && day <= to;
}
