// The month that a page is about: which one its query asks for, and the field to choose another.
import type { Html } from '../docs/html.ts';
import { dayOf } from '../domain/period.ts';
import { dateOf, daysOfMonth, monthOf } from '../domain/usage-days.ts';
import type { SignedInVisit } from './console-route.ts';
import { searchSelect } from './search-form.ts';

export interface AskedMonth {
  readonly month: string;
  readonly from: string;
  readonly to: string;
  readonly today: number;
}

/** A month that is none is ignored: a truncated link still opens the current one. */
export function monthOfQuery({ request: { query }, nowMs }: SignedInVisit): AskedMonth {
  const [today, asked] = [dayOf(nowMs), query.get('month') ?? ''];
  const month = daysOfMonth(asked) === undefined ? monthOf(today) : asked;
  const { from, to } = daysOfMonth(month)!;
  return { month, from: dateOf(from), to: dateOf(to), today };
}

/** The months that are stored by default, and the one that began before them. */
const MONTHS = 14;

export function monthSelect({ month, today }: AskedMonth): Html {
  const months = [...new Set([month, ...lastMonths(today, MONTHS)])].toSorted().toReversed();
  const choices = months.map((one) => ({ value: one, label: one }));
  return searchSelect('month', 'Month (UTC)', choices, month);
}

/** In order, ending with the one of `today`. */
export function lastMonths(today: number, months: number): string[] {
  const [year, month] = monthOf(today).split('-').map(Number) as [number, number];
  return Array.from({ length: months }, (_, index) => new Date(Date.UTC(year, month - months + index, 1)).toISOString().slice(0, 7));
}
