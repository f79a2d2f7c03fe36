// Usage by day: ranges of calendar days as callers give them, dates as they are shown, and counts summed over them.
import type { Static } from 'typebox';
import type { DayUsageAnswer } from './answers.ts';
import { DAY_MS } from './period.ts';

/** Whole days since 1970-01-01, in UTC; both ends inclusive. */
export interface DayRange {
  readonly from: number;
  readonly to: number;
}

/** The refusals that are counted: 429 and 402. Whichever limit it was, the team's or a key's own. */
export const REFUSAL_CODES = ['rate_limited', 'quota_exceeded', 'credit_exhausted'] as const;
export type RefusalCode = (typeof REFUSAL_CODES)[number];

/** How many there were. */
export type RefusalCounts = Readonly<Record<RefusalCode, number>>;

export const NO_REFUSALS: RefusalCounts = { rate_limited: 0, quota_exceeded: 0, credit_exhausted: 0 };

/** What counts are summed over: a day, a calendar month, or the whole range. */
export type UsageSpan = 'day' | 'month' | 'total';

export const USAGE_SPANS: readonly UsageSpan[] = ['day', 'month', 'total'];

export const RANGE_DAYS_MAX = 400;

const DATE = /^(\d{4})-(\d{2})-(\d{2})$/;
const MONTH = /^(\d{4})-(\d{2})$/;

/** An error in one of the two ends; the message follows the name of its field or flag. */
interface RangeFault {
  readonly field: 'from' | 'to';
  readonly fault: string;
}

/** `undefined` if neither end is given. */
export function readDayRange(from: string | undefined, to: string | undefined): DayRange | RangeFault | undefined {
  if (from === undefined && to === undefined) return undefined;
  if (from === undefined) return { field: 'from', fault: 'is missing; give the first day beside the last one, or neither' };
  if (to === undefined) return { field: 'to', fault: 'is missing; give the last day beside the first one, or neither' };
  const first = dayOfDate(from);
  if (first === undefined) return { field: 'from', fault: NO_DATE };
  const last = dayOfDate(to);
  if (last === undefined) return { field: 'to', fault: NO_DATE };
  if (last < first) return { field: 'to', fault: 'must not be before the first day' };
  const days = last - first + 1;
  if (days > RANGE_DAYS_MAX)
    return { field: 'to', fault: `ends a range of ${days} days; the maximum is ${RANGE_DAYS_MAX}, counting both ends` };
  // Nothing was counted before 1970, and stores keep days as counts from then.
  return { from: Math.max(0, first), to: Math.max(0, last) };
}

const NO_DATE = 'must be a calendar date as YYYY-MM-DD, for example 2026-11-22';

/** `undefined` if it is not a calendar date written as YYYY-MM-DD. */
export function dayOfDate(date: string): number | undefined {
  const [, year, month, day] = DATE.exec(date) ?? [];
  if (year === undefined) return undefined;
  const ms = Date.UTC(Number(year), Number(month) - 1, Number(day));
  // `Date` turns 30 February into a day in March, and the year 26 into 1926.
  return dateOf(ms / DAY_MS) === date ? ms / DAY_MS : undefined;
}

/** `2026-11-22`. */
export function dateOf(day: number): string {
  const written = dates.get(day) ?? new Date(day * DAY_MS).toISOString().slice(0, 10);
  if (dates.size >= DATES_KEPT) dates.clear();
  dates.set(day, written);
  return written;
}

/** Cached: exports have millions of rows but only a few hundred days, and formatting each row took a tenth of the time. */
const dates = new Map<number, string>();
const DATES_KEPT = 1000;

/** The days of a month given as `2026-11`; `undefined` if it is not one. */
export function daysOfMonth(month: string): DayRange | undefined {
  const first = MONTH.test(month) ? dayOfDate(`${month}-01`) : undefined;
  if (first === undefined) return undefined;
  const [year, number] = month.split('-').map(Number) as [number, number];
  return { from: first, to: Date.UTC(year, number, 1) / DAY_MS - 1 };
}

/** `2026-11`. */
export function monthOf(day: number): string {
  return dateOf(day).slice(0, 7);
}

/** The date to show for a count: the day, the month, or null for the whole range. */
export function dateIn(span: UsageSpan, day: number): string | null {
  if (span === 'total') return null;
  return span === 'day' ? dateOf(day) : monthOf(day);
}

interface DayCount {
  readonly day: number;
  readonly characters: number;
  readonly requests: number;
}

/** Sums the keys' counts, which are ordered by day, into the team's count per day. */
export function dayReports(days: readonly DayCount[]): Static<typeof DayUsageAnswer>[] {
  const reports: Static<typeof DayUsageAnswer>[] = [];
  let last = -1;
  for (const { day, characters, requests } of days) {
    if (day !== last) reports.push({ date: dateOf(day), character_count: 0, request_count: 0 });
    last = day;
    const report = reports.at(-1)!;
    report.character_count += characters;
    report.request_count += requests;
  }
  return reports;
}
