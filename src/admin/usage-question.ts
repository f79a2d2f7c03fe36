// Parses which usage a query asks for, and the cursor at which its next page continues.
import { hash } from 'node:crypto';
import { dayOf } from '../domain/period.ts';
import { canonicalUlid } from '../domain/ulid.ts';
import { daysOfMonth, monthOf, readDayRange, USAGE_SPANS } from '../domain/usage-days.ts';
import type { UsageSpan } from '../domain/usage-days.ts';
import type { UsagePlace } from './usage-reading.ts';
import type { UsageQuestion } from './usage-rows.ts';

export interface QueryFault {
  readonly field: string;
  readonly fault: string;
}

/** Without `from` and `to`, the current month. */
export function readUsageQuestion(query: URLSearchParams, nowMs: number): UsageQuestion | QueryFault {
  const range = readDayRange(query.get('from') ?? undefined, query.get('to') ?? undefined) ?? monthAt(nowMs);
  if ('fault' in range) return range;
  const by = query.get('by') ?? 'day';
  if (!isSpan(by)) return { field: 'by', fault: `must be one of ${USAGE_SPANS.join(', ')}` };
  const keys = query.get('keys') ?? 'false';
  if (keys !== 'true' && keys !== 'false') return { field: 'keys', fault: 'must be true or false' };
  const tags = query.get('tags') ?? 'false';
  if (tags !== 'true' && tags !== 'false') return { field: 'tags', fault: 'must be true or false' };
  if (tags === 'true' && keys === 'true') return { field: 'tags', fault: 'excludes keys; ask for one of them' };
  const team = query.get('team') ?? undefined;
  const teamId = team === undefined ? undefined : canonicalUlid(team);
  if (team !== undefined && teamId === undefined) return { field: 'team', fault: 'there is no team with this id' };
  return { range, by, keys: keys === 'true', teamId, ...(tags === 'true' ? { tags: true } : {}) };
}

export function isSpan(text: string): text is UsageSpan {
  return (USAGE_SPANS as readonly string[]).includes(text);
}

function monthAt(ms: number): UsageQuestion['range'] {
  return daysOfMonth(monthOf(dayOf(ms)))!;
}

const SPOT = /^([0-7][0-9A-HJKMNP-TV-Z]{25})(?:\/(|\d{4}-\d\d(?:-\d\d)?)\/(?:([0-9A-HJKMNP-TV-Z]{26})|~([\w-]*))?)?\/([0-9a-f]{12})$/;

/** Opaque to callers. Valid only for the query for which it was made. */
export function cursorOf(place: UsagePlace, question: UsageQuestion): string {
  const { teamId, row } = place;
  const spot = row === undefined ? [teamId] : [teamId, row.date ?? '', row.keyId ?? tagInCursor(row.tag)];
  return Buffer.from([...spot, digestOf(question)].join('/')).toString('base64url');
}

export function readCursor(cursor: string, question: UsageQuestion): UsagePlace | QueryFault {
  const [, teamId, date, keyId, tag, digest] = SPOT.exec(Buffer.from(cursor, 'base64url').toString('latin1')) ?? [];
  if (teamId === undefined) return { field: 'cursor', fault: 'must be the `next` of the previous page' };
  if (digest !== digestOf(question)) {
    return { field: 'cursor', fault: 'belongs to another query; use the same from, to, by, keys, tags and team as for the previous page' };
  }
  if (date === undefined) return { teamId, row: undefined };
  const tagged = tag === undefined ? {} : { tag: tag === '' ? null : Buffer.from(tag, 'base64url').toString('latin1') };
  return { teamId, row: { date: date === '' ? null : date, keyId, ...tagged } };
}

/** Behind a sign that no key's id has; nothing for rows of teams. */
function tagInCursor(tag: string | null | undefined): string {
  return tag === undefined ? '' : `~${Buffer.from(tag ?? '').toString('base64url')}`;
}

function digestOf({ range, by, keys, tags = false, teamId }: UsageQuestion): string {
  const words = [range.from, range.to, by, keys, ...(tags ? ['tags'] : []), teamId ?? ''];
  return hash('sha256', words.join(' '), 'hex').slice(0, 12);
}
