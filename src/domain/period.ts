// Periods of a team: ISO 8601 durations counted from an anchor, or units of the UTC calendar,
// stored as one text; which of them an invoice is about, and what one did to the team's credit.
// Also days and moments in UTC.
import type { Micro } from './money.ts';
import { windowAt } from './window-limits.ts';
import type { WindowName } from './window-limits.ts';

/** Whole units of an ISO 8601 duration. */
interface Duration {
  readonly months: number;
  readonly days: number;
  readonly seconds: number;
}

/** Milliseconds since the epoch; `startMs` belongs to the period, `endMs` to the next one. */
export interface Period {
  readonly startMs: number;
  readonly endMs: number;
}

/** How many days of usage a store keeps by default. */
export const HISTORY_DAYS = 400;

const PATTERN =
  /^P(?!$)(?:(\d{1,4})Y)?(?:(\d{1,4})M)?(?:(\d{1,4})W)?(?:(\d{1,5})D)?(?:T(?=\d)(?:(\d{1,6})H)?(?:(\d{1,7})M)?(?:(\d{1,9})S)?)?$/;
const SECOND_MS = 1000;
export const DAY_MS = 86_400 * SECOND_MS;
const MONTH_MS_MIN = 28 * DAY_MS;
const MONTH_MS_MAX = 31 * DAY_MS;

/** `undefined` if the text is not a duration of whole units or is shorter than a second. */
export function parseDuration(text: string): Duration | undefined {
  const match = PATTERN.exec(text);
  if (match === null) return undefined;
  const [years = 0, months = 0, weeks = 0, days = 0, hours = 0, minutes = 0, seconds = 0] = match.slice(1).map((part) => Number(part ?? 0));
  const duration = { months: years * 12 + months, days: weeks * 7 + days, seconds: hours * 3600 + minutes * 60 + seconds };
  return duration.months + duration.days + duration.seconds === 0 ? undefined : duration;
}

/** Also in different units, such as P7D and P1W. Invalid durations are compared as text. */
export function sameDuration(one: string, other: string): boolean {
  if (one === other) return true;
  const [a, b] = [parseDuration(one), parseDuration(other)];
  return a !== undefined && b !== undefined && a.months === b.months && fixedMsOf(a) === fixedMsOf(b);
}

function fixedMsOf({ days, seconds }: Duration): number {
  return days * DAY_MS + seconds * SECOND_MS;
}

/** `count` durations later: months (the day clamped to the last), then days, then seconds. */
export function addDurations(anchorMs: number, duration: Duration, count: number): number {
  const anchor = new Date(anchorMs);
  let result = anchorMs;
  if (duration.months > 0) {
    const month = anchor.getUTCMonth() + duration.months * count;
    const lastDay = new Date(Date.UTC(anchor.getUTCFullYear(), month + 1, 0)).getUTCDate();
    const midnight = Date.UTC(anchor.getUTCFullYear(), month, Math.min(anchor.getUTCDate(), lastDay));
    result = midnight + (anchorMs - Date.UTC(anchor.getUTCFullYear(), anchor.getUTCMonth(), anchor.getUTCDate()));
  }
  return result + fixedMsOf(duration) * count;
}

/** The period that contains `nowMs`. A moment before the anchor falls into the first period. */
export function periodAt(anchorMs: number, duration: Duration, nowMs: number): Period {
  const elapsed = Math.max(0, nowMs - anchorMs);
  const fixedMs = fixedMsOf(duration);
  let count = Math.floor(elapsed / (duration.months * MONTH_MS_MAX + fixedMs));
  if (duration.months > 0) {
    // Estimating by the longest month never overshoots; the loop corrects for shorter months.
    const highest = Math.floor(elapsed / (duration.months * MONTH_MS_MIN + fixedMs)) + 1;
    while (count < highest && addDurations(anchorMs, duration, count + 1) <= nowMs) count++;
  }
  return { startMs: addDurations(anchorMs, duration, count), endMs: addDurations(anchorMs, duration, count + 1) };
}

/** The UTC day of a moment, as whole days since 1970-01-01. */
export function dayOf(ms: number): number {
  return Math.floor(ms / DAY_MS);
}

/** RFC 3339 in UTC; milliseconds are omitted if zero. */
export function rfc3339(ms: number): string {
  return new Date(ms).toISOString().replace('.000Z', 'Z');
}

const RFC3339 = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:\.(\d+))?(?:Z|([+-])(\d\d):(\d\d))$/i;

/** Finer fractions are cut, a leap second counts as the next second. `undefined` if invalid. */
export function parseRfc3339(text: string): number | undefined {
  const [, year, month, date, hour, minute, second, part = '', sign, zoneHour = '0', zoneMinute = '0'] = RFC3339.exec(text) ?? [];
  if (year === undefined || Number(hour) > 23 || Number(minute) > 59 || Number(second) > 60) return undefined;
  if (Number(zoneHour) > 23 || Number(zoneMinute) > 59) return undefined;
  const midnight = new Date(`${year}-${month}-${date}T00:00:00Z`);
  // A day that does not exist yields NaN, or a day of the next month.
  if (Number.isNaN(midnight.getTime()) || midnight.getUTCDate() !== Number(date)) return undefined;
  const minutes = Number(hour) * 60 + Number(minute) - (sign === '-' ? -1 : 1) * (Number(zoneHour) * 60 + Number(zoneMinute));
  const secondMs = midnight.getTime() + minutes * 60 * SECOND_MS + Number(second) * SECOND_MS;
  // Leap seconds end a month in UTC.
  if (Number(second) === 60 && (secondMs % DAY_MS !== 0 || new Date(secondMs).getUTCDate() !== 1)) return undefined;
  return secondMs + Number(part.padEnd(3, '0').slice(0, 3));
}

/** `creation`: n durations after it. `calendar`: a UTC day, ISO week, month or year. */
type PeriodAnchor = 'creation' | 'calendar';

/** Follows the length: a version that does not know it finds no valid duration. */
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

/** The period at `nowMs`; `anchorMs` is not the calendar's. A `RangeError` for an invalid rule. */
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

const WINDOW_OF: Readonly<Record<Exclude<CalendarUnit, 'P1Y'>, WindowName>> = { P1M: 'month', P7D: 'week', P1D: 'day' };

function calendarPeriod(unit: CalendarUnit, nowMs: number): Period {
  if (unit !== 'P1Y') return windowAt(WINDOW_OF[unit], nowMs);
  const year = new Date(nowMs).getUTCFullYear();
  return { startMs: Date.UTC(year, 0), endMs: Date.UTC(year + 1, 0) };
}

/** Milliseconds since the epoch; `endMs` no longer belongs to it. */
export interface PeriodSpan {
  readonly fromMs: number;
  readonly endMs: number;
  /** Whether periods that are not closed are included. */
  readonly open: boolean;
}

/**
 * A closed period belongs to the span of its last moment: one that ends at midnight, to the day
 * before. An open one belongs to every span that it shares a moment with.
 */
export function isInSpan(
  { startMs, endMs, closed }: { readonly startMs: number; readonly endMs: number; readonly closed: boolean },
  span: PeriodSpan,
): boolean {
  if (!closed) return span.open && startMs < span.endMs && endMs > span.fromMs;
  // One that was ended in the moment it began has no other.
  const lastMs = Math.max(startMs, endMs - 1);
  return lastMs >= span.fromMs && lastMs < span.endMs;
}

/**
 * The balance when the period began and ended, and what was added and deducted between. A later
 * settlement lowers that of the period that it was reserved in: spending follows exactly.
 */
export interface PeriodCredit {
  readonly openingMicro: Micro;
  readonly addedMicro: Micro;
  readonly deductedMicro: Micro;
  readonly balanceMicro: Micro;
}

/** What was spent on translations. */
export function spentIn({ openingMicro, addedMicro, deductedMicro, balanceMicro }: PeriodCredit): Micro {
  return openingMicro + addedMicro - deductedMicro - balanceMicro;
}

/** Whether the balance changed, or would have but for equal additions and deductions. */
export function movedCredit({ openingMicro, addedMicro, deductedMicro, balanceMicro }: PeriodCredit): boolean {
  return addedMicro > 0 || deductedMicro > 0 || openingMicro !== balanceMicro;
}
