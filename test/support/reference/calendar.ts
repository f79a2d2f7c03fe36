// Days, windows and periods of the reference store: plain arithmetic, in UTC, found by trying boundaries one after the other.
import type { Period, WindowName } from 'lingate';

export const DAY_MS = 86_400_000;
/** A Monday, and the first day of a month and of a year: what is counted from here goes by the calendar. */
const FIRST_OF_ALL = Date.UTC(1900, 0, 1);

interface Length {
  readonly months: number;
  readonly ms: number;
}

const WINDOW_LENGTHS: Readonly<Record<WindowName, string>> = { minute: 'PT1M', hour: 'PT1H', day: 'P1D', week: 'P1W', month: 'P1M' };
/** From the shortest to the longest. */
export const WINDOW_NAMES = Object.keys(WINDOW_LENGTHS) as readonly WindowName[];
const CALENDAR = '@calendar';
const CALENDAR_LENGTHS = ['P1D', 'P7D', 'P1M', 'P1Y'];
const DURATION = /^P(?=.)(\d+Y)?(\d+M)?(\d+W)?(\d+D)?(?:T(?=.)(\d+H)?(\d+M)?(\d+S)?)?$/;

export function dayOf(ms: number): number {
  return Math.floor(ms / DAY_MS);
}

/** The window that contains a moment. */
export function windowAt(per: WindowName, nowMs: number): Period {
  return containing(FIRST_OF_ALL, lengthOf(WINDOW_LENGTHS[per])!, nowMs);
}

/** The period that contains a moment: counted from the anchor, or by the calendar. */
export function periodAt(rule: string, anchorMs: number, nowMs: number): Period {
  const length = lengthOf(rule);
  if (length === undefined) throw new RangeError(`not a period: ${rule}`);
  return containing(rule.endsWith(CALENDAR) ? FIRST_OF_ALL : anchorMs, length, nowMs);
}

export function isPeriod(rule: string): boolean {
  if (lengthOf(rule) === undefined) return false;
  return !rule.endsWith(CALENDAR) || CALENDAR_LENGTHS.some((one) => sameLength(one, rule));
}

/** Whatever they are counted from, and in whatever units they are written. */
export function sameLength(one: string, other: string): boolean {
  const [a, b] = [lengthOf(one), lengthOf(other)];
  return a === undefined || b === undefined ? one === other : a.months === b.months && a.ms === b.ms;
}

function lengthOf(rule: string): Length | undefined {
  const found = DURATION.exec(rule.replace(CALENDAR, ''));
  if (found === null) return undefined;
  const [years, months, weeks, days, hours, minutes, seconds] = found.slice(1).map((part) => Number.parseInt(part ?? '0', 10)) as [
    number,
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  const length = { months: 12 * years + months, ms: (7 * weeks + days) * DAY_MS + ((hours * 60 + minutes) * 60 + seconds) * 1000 };
  return length.months + length.ms === 0 ? undefined : length;
}

/** Between two boundaries, each a number of lengths from the anchor. What is before the anchor falls into the first. */
function containing(anchorMs: number, length: Length, nowMs: number): Period {
  let [low, high] = [0, 1];
  while (boundary(anchorMs, length, high) <= nowMs) [low, high] = [high, 2 * high];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (boundary(anchorMs, length, middle) <= nowMs) low = middle;
    else high = middle;
  }
  return { startMs: boundary(anchorMs, length, low), endMs: boundary(anchorMs, length, low + 1) };
}

/** Months first, on the last day of a month that is too short, then the rest. */
function boundary(anchorMs: number, { months, ms }: Length, count: number): number {
  const date = new Date(anchorMs);
  const day = date.getUTCDate();
  date.setUTCDate(1);
  date.setUTCMonth(date.getUTCMonth() + months * count);
  date.setUTCDate(Math.min(day, daysIn(date)));
  return date.getTime() + ms * count;
}

function daysIn(date: Date): number {
  return Math.round(
    (Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1) - Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), 1)) / DAY_MS,
  );
}
