// A team's usage as callers and operators see it: the body of GET /v1/usage, ranges of calendar
// days as they are given, dates as they are shown, and counts summed over them.
import type { Static } from 'typebox';
import type { DayUsageAnswer, TestKeysAnswer, UsageAnswer } from './answers.ts';
import { DAY_MS, rfc3339 } from './period.ts';
import type { KeyMode } from './api-key.ts';
import { costMicro, minorRoundedDown } from './money.ts';
import type { Micro } from './money.ts';
import type { TeamLimits } from './plan.ts';
import type { WindowUse } from './window-limits.ts';

/** Whole days since 1970-01-01, in UTC; both ends inclusive. */
export interface DayRange {
  readonly from: number;
  readonly to: number;
}

/** 429 and 402 are counted, whichever limit it was, the team's or a key's own. */
export const REFUSAL_CODES = ['rate_limited', 'quota_exceeded', 'credit_exhausted'] as const;
export type RefusalCode = (typeof REFUSAL_CODES)[number];

/** How many there were. */
export type RefusalCounts = Readonly<Record<RefusalCode, number>>;

export const NO_REFUSALS: RefusalCounts = { rate_limited: 0, quota_exceeded: 0, credit_exhausted: 0 };

/** What counts are summed over: a day, a calendar month, or the whole range. */
type UsageSpan = 'day' | 'month' | 'total';

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
  return new Date(day * DAY_MS).toISOString().slice(0, 10);
}

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

/** Of a team's current period, as the stores report them. */
export interface UsageFigures {
  readonly team: { readonly teamId: string; readonly plan: string; readonly limits: TeamLimits; readonly balanceMicro: Micro };
  readonly periodStartMs: number;
  readonly periodEndMs: number;
  readonly characters: number;
  /** Of these, what test keys used of the plan's allowance: for nothing. */
  readonly allowanceUsed: number;
  /** Of the limits by minute to month, at the moment of reading; absent without such limits. */
  readonly windows?: readonly WindowUse[];
  readonly keys: readonly {
    readonly display: string;
    readonly label: string;
    readonly mode: KeyMode;
    readonly characters: number;
    readonly requests: number;
    readonly lastUsedAtMs: number | undefined;
    readonly windows?: readonly WindowUse[];
  }[];
}

export type UsageReport = Static<typeof UsageAnswer>;

/** Members are in output order. */
export function usageReport(usage: UsageFigures): UsageReport {
  const { team, characters, allowanceUsed } = usage;
  const { limits } = team;
  const base = {
    requests_per_second: limits.requestsPerSecond,
    period_start: rfc3339(usage.periodStartMs),
    period_end: rfc3339(usage.periodEndMs),
    character_count: characters,
    ...testCharactersOf(usage),
    ...testKeysOf(limits, allowanceUsed),
    ...usedLimits(usage.windows),
  };
  const keys = usage.keys.map((key) => ({
    display: key.display,
    label: key.label,
    mode: key.mode,
    character_count: key.characters,
    request_count: key.requests,
    last_used_at: key.lastUsedAtMs === undefined ? null : rfc3339(key.lastUsedAtMs),
    ...usedLimits(key.windows),
  }));
  if (limits.billing === 'credit') {
    const credit = { balance_minor: minorRoundedDown(team.balanceMicro), currency: limits.currency };
    return { team_id: team.teamId, plan: team.plan, billing: 'credit', ...base, credit, keys };
  }
  const overage = overageOf(characters - allowanceUsed, limits);
  return { team_id: team.teamId, plan: team.plan, billing: 'quota', ...base, character_limit: limits.characterLimit, overage, keys };
}

/** Limits by minute to month, with what is used of them; absent without such limits. */
export function usedLimits(windows: readonly WindowUse[] | undefined): Pick<UsageReport, 'limits'> {
  if (windows === undefined) return {};
  const limits = windows.map(({ per, requests, characters, usedRequests, usedCharacters, endMs }) => ({
    per,
    ...(requests === undefined ? {} : { requests, used_requests: usedRequests }),
    ...(characters === undefined ? {} : { characters, used_characters: usedCharacters }),
    resets_at: rfc3339(endMs),
  }));
  return { limits };
}

/** What was charged to test keys; absent where it is not known which keys were used. */
function testCharactersOf({ characters, keys }: UsageFigures): { test_character_count?: number } {
  if (characters > 0 && keys.length === 0) return {};
  return { test_character_count: keys.reduce((sum, key) => (key.mode === 'test' ? sum + key.characters : sum), 0) };
}

/** How many characters a plan lets test keys use for nothing, and how many they have used. */
export function testKeysOf({ testAllowance }: TeamLimits, allowanceUsed: number): { test_keys?: Static<typeof TestKeysAnswer> } {
  if (testAllowance + allowanceUsed === 0) return {};
  return { test_keys: { character_count: allowanceUsed, character_limit: testAllowance } };
}

/** What was used beyond the included ones, and what it costs. `characters` are charged ones. */
export function overageOf(characters: number, limits: TeamLimits): Extract<UsageReport, { billing: 'quota' }>['overage'] {
  const beyond = Math.max(0, characters - limits.characterLimit);
  return {
    character_count: beyond,
    // Rounded down to whole minor units due so far. Never above the cap, which a plan change could
    // have lowered.
    cost_minor: Math.min(limits.overageCapMinor, minorRoundedDown(costMicro(beyond, limits.minorPerMillion))),
    cap_minor: limits.overageCapMinor,
    currency: limits.currency,
  };
}

/** Calendar months in order, ending with the one of `today`. */
export function lastMonths(today: number, months: number): string[] {
  const [year, month] = monthOf(today).split('-').map(Number) as [number, number];
  return Array.from({ length: months }, (_, index) => new Date(Date.UTC(year, month - months + index, 1)).toISOString().slice(0, 7));
}
