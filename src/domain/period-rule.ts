// How a team's periods are counted: by a duration from an anchor, or by the UTC calendar; stored as one text.
import { DAY_MS, parseDuration, periodAt, sameDuration } from './period.ts';
import type { Period } from './period.ts';

/** `creation`: the n-th period begins n durations after the team's creation. `calendar`: each is a UTC day, ISO week, month or year. */
export type PeriodAnchor = 'creation' | 'calendar';

/** Follows the length. A version that does not know it finds no valid duration, instead of miscounting. */
const BY_CALENDAR = '@calendar';
/** The lengths of calendar periods; equivalent lengths are accepted. */
export const CALENDAR_LENGTHS = ['P1M', 'P7D', 'P1D', 'P1Y'] as const;

type CalendarUnit = (typeof CALENDAR_LENGTHS)[number];

/** `length` is an ISO 8601 duration. */
export function periodRule(length: string, anchor: PeriodAnchor = 'creation'): string {
  return anchor === 'calendar' ? length + BY_CALENDAR : length;
}

export function lengthOf(rule: string): string {
  return anchorOf(rule) === 'calendar' ? rule.slice(0, -BY_CALENDAR.length) : rule;
}

export function anchorOf(rule: string): PeriodAnchor {
  return rule.endsWith(BY_CALENDAR) ? 'calendar' : 'creation';
}

/** Whether both have periods of the same length, regardless of the anchor. */
export function sameLength(one: string, other: string): boolean {
  return sameDuration(lengthOf(one), lengthOf(other));
}

/** Whether there are calendar periods of this length. */
export function isOfCalendar(length: string): boolean {
  return unitOf(length) !== undefined;
}

export function isPeriodRule(rule: string): boolean {
  return anchorOf(rule) === 'calendar' ? isOfCalendar(lengthOf(rule)) : parseDuration(rule) !== undefined;
}

/** The period that contains `nowMs`; a calendar period does not depend on `anchorMs`. Throws a `RangeError` for an invalid rule. */
export function periodBy(rule: string, anchorMs: number, nowMs: number): Period {
  const length = lengthOf(rule);
  const unit = anchorOf(rule) === 'calendar' ? unitOf(length) : undefined;
  if (unit !== undefined) return calendarPeriod(unit, nowMs);
  const duration = anchorOf(rule) === 'creation' ? parseDuration(length) : undefined;
  if (duration === undefined) throw new RangeError(`a team has a period that is not a duration: ${rule}`);
  return periodAt(anchorMs, duration, nowMs);
}

function unitOf(length: string): CalendarUnit | undefined {
  return CALENDAR_LENGTHS.find((unit) => sameDuration(unit, length));
}

function calendarPeriod(unit: CalendarUnit, nowMs: number): Period {
  const now = new Date(nowMs);
  const [year, month, day] = [now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate()];
  switch (unit) {
    case 'P1Y':
      return { startMs: Date.UTC(year, 0), endMs: Date.UTC(year + 1, 0) };
    case 'P1M':
      return { startMs: Date.UTC(year, month), endMs: Date.UTC(year, month + 1) };
    case 'P7D': {
      const sinceMonday = (now.getUTCDay() + 6) % 7;
      const startMs = Date.UTC(year, month, day - sinceMonday);
      return { startMs, endMs: startMs + 7 * DAY_MS };
    }
    case 'P1D': {
      const startMs = Date.UTC(year, month, day);
      return { startMs, endMs: startMs + DAY_MS };
    }
  }
}
