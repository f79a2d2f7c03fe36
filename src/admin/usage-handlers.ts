// The admin API's handlers for days and periods: a page of rows, all of them as CSV, a team's periods.
import { refuse } from '../core/problem.ts';
import type { Refusal } from '../core/outcome.ts';
import type { StoreUnavailable } from '../domain/store-unavailable.ts';
import { limitOf } from './admin-input.ts';
import { refusalOf } from './admin-refusals.ts';
import type { Handled } from './admin-refusals.ts';
import type { AdminRefusal } from './admin-result.ts';
import { usageDownload } from './usage-download.ts';
import { cursorOf, readCursor, readUsageQuestion } from './usage-question.ts';
import type { QueryFault } from './usage-question.ts';
import type { UsageReading } from './usage-reading.ts';
import type { UsageQuestion } from './usage-rows.ts';

export async function listUsage(reading: UsageReading, query: URLSearchParams, nowMs: number): Promise<Handled> {
  const question = readUsageQuestion(query, nowMs);
  if ('fault' in question) return refusalOfFault(question);
  const limit = limitOf(query);
  if (typeof limit === 'object') return limit;
  const format = query.get('format') ?? 'json';
  if (format !== 'json' && format !== 'csv') return refusalOfFault({ field: 'format', fault: 'must be json or csv' });
  return format === 'csv' ? csv(reading, question, query.get('cursor')) : page(reading, question, query.get('cursor'), limit);
}

async function csv(reading: UsageReading, question: UsageQuestion, cursor: string | null): Promise<Handled> {
  if (cursor !== null) return refusalOfFault({ field: 'cursor', fault: 'cannot be used with format=csv, which has all rows' });
  const download = await usageDownload(reading, question);
  return download.kind === 'download' ? download : refusalOfQuery(download);
}

async function page(reading: UsageReading, question: UsageQuestion, cursor: string | null, limit: number): Promise<Handled> {
  const after = cursor === null ? undefined : readCursor(cursor, question);
  if (after !== undefined && 'fault' in after) return refusalOfFault(after);
  const found = await reading.page(question, after, limit);
  if (found.kind !== 'done') return refusalOfQuery(found);
  const { rows, next } = found.value;
  return { value: { usage: rows, next: next === undefined ? null : cursorOf(next, question) } };
}

/** A team that a query names is not part of the path, so it is not a 404. */
export function refusalOfQuery(refusal: AdminRefusal | StoreUnavailable): Refusal {
  return refusal.kind === 'no_such_team' ? refusalOfFault({ field: 'team', fault: 'there is no team with this id' }) : refusalOf(refusal);
}

export function refusalOfFault({ field, fault }: QueryFault): Refusal {
  return refuse('validation_error', `${field}: ${fault}.`);
}
