// Parses which invoices a query asks for, and the cursor at which its next page continues.
import { hash } from 'node:crypto';
import { DAY_MS, dayOf } from '../domain/period.ts';
import type { PeriodSpan } from '../domain/period-span.ts';
import { canonicalUlid } from '../domain/ulid.ts';
import { daysOfMonth, monthOf, readDayRange } from '../domain/usage-days.ts';
import type { DayRange } from '../domain/usage-days.ts';
import type { RowPlace } from './rows-of-teams.ts';
import type { QueryFault } from './usage-question.ts';

export interface InvoiceQuestion {
  readonly range: DayRange;
  /** Whether running periods are included. */
  readonly open: boolean;
  /** Only this team. */
  readonly teamId: string | undefined;
}

/** The last line of the previous page: the team, and the number of the line's period. */
export type InvoicePlace = RowPlace<number>;

export function spanOf({ range, open }: InvoiceQuestion): PeriodSpan {
  return { fromMs: range.from * DAY_MS, endMs: (range.to + 1) * DAY_MS, open };
}

/** A month, or first and last day; `undefined` if neither is given. */
export function readInvoiceRange(
  month: string | undefined,
  from: string | undefined,
  to: string | undefined,
): DayRange | QueryFault | undefined {
  if (month === undefined) return readDayRange(from, to);
  if (from !== undefined || to !== undefined)
    return { field: 'month', fault: 'cannot be used together with from and to; give one of them' };
  return daysOfMonth(month) ?? { field: 'month', fault: 'must be a calendar month as YYYY-MM, for example 2026-11' };
}

/** Without `month`, `from` and `to`: the current month. */
export function readInvoiceQuestion(query: URLSearchParams, nowMs: number): InvoiceQuestion | QueryFault {
  const [month, from, to] = ['month', 'from', 'to'].map((name) => query.get(name) ?? undefined);
  const range = readInvoiceRange(month, from, to) ?? daysOfMonth(monthOf(dayOf(nowMs)))!;
  if ('fault' in range) return range;
  const open = query.get('open') ?? 'false';
  if (open !== 'true' && open !== 'false') return { field: 'open', fault: 'must be true or false' };
  const team = query.get('team') ?? undefined;
  const teamId = team === undefined ? undefined : canonicalUlid(team);
  if (team !== undefined && teamId === undefined) return { field: 'team', fault: 'there is no team with this id' };
  return { range, open: open === 'true', teamId };
}

const PLACE = /^([0-7][0-9A-HJKMNP-TV-Z]{25})\/(\d{1,15})?\/([0-9a-f]{12})$/;

/** Opaque to callers. Valid only for the query for which it was made. */
export function cursorOfInvoices({ teamId, row }: InvoicePlace, question: InvoiceQuestion): string {
  return Buffer.from([teamId, row ?? '', digestOf(question)].join('/')).toString('base64url');
}

export function readInvoiceCursor(cursor: string, question: InvoiceQuestion): InvoicePlace | QueryFault {
  const [, teamId, period, digest] = PLACE.exec(Buffer.from(cursor, 'base64url').toString('latin1')) ?? [];
  if (teamId === undefined) return { field: 'cursor', fault: 'must be the `next` of the previous page' };
  if (digest !== digestOf(question)) {
    return { field: 'cursor', fault: 'belongs to another query; use the same month, from, to, open and team as for the previous page' };
  }
  return { teamId, row: period === undefined ? undefined : Number(period) };
}

function digestOf({ range, open, teamId }: InvoiceQuestion): string {
  return hash('sha256', ['invoices', range.from, range.to, open, teamId ?? ''].join(' '), 'hex').slice(0, 12);
}
