// Which audit entries an operator asks for, besides those of a team: by whom, what, and when.
import { AUDIT_ACTIONS, idBefore } from '../domain/audit-entry.ts';
import type { AuditAction, AuditEntry } from '../domain/audit-entry.ts';
import { DAY_MS } from '../domain/period.ts';
import { dayOfDate } from '../domain/usage-days.ts';
import type { AuditPage } from '../ports/audit-log.ts';
import type { QueryFault } from './usage-question.ts';

/** `undefined` members do not matter. */
export interface AuditFilter {
  /** A part of the actor, in lower case: `cli:`, `ops@`, `10.0.0.7`. */
  readonly actor: string | undefined;
  readonly action: AuditAction | undefined;
  /** A UTC day, counted from 1970. */
  readonly day: number | undefined;
}

/** Query parameters, flags of `audit list`, and fields of the console. */
export const AUDIT_CRITERIA = {
  actor: {
    about: 'only changes by actors whose name has this in it, for example ops, cli: or 10.0.0.7, in upper or lower case',
    value: 'TEXT',
  },
  action: { about: `only changes of this kind: ${AUDIT_ACTIONS.join(', ')}`, value: 'ACTION' },
  day: { about: 'only changes of this UTC day, for example 2026-11-22', value: 'DAY' },
} as const;

export type AuditCriterionName = keyof typeof AUDIT_CRITERIA;

const ACTOR_CHARACTERS_MAX = 200;

/** `given` returns a criterion's text. An empty one, as a form sends it, counts as absent. */
export function readAuditFilter(given: (name: AuditCriterionName) => string | null | undefined): AuditFilter | QueryFault {
  const text = (name: AuditCriterionName): string | undefined => given(name)?.trim() || undefined;
  const [actor, action, date] = [text('actor'), text('action'), text('day')];
  if (actor !== undefined && actor.length > ACTOR_CHARACTERS_MAX)
    return { field: 'actor', fault: `may be at most ${ACTOR_CHARACTERS_MAX} characters long` };
  const known = AUDIT_ACTIONS.find((one) => one === action);
  if (action !== undefined && known === undefined) return { field: 'action', fault: `must be one of ${AUDIT_ACTIONS.join(', ')}` };
  const day = date === undefined ? undefined : dayOfDate(date);
  if (date !== undefined && day === undefined) return { field: 'day', fault: 'must be a UTC day, for example 2026-11-22' };
  return { actor: actor?.toLowerCase(), action: known, day };
}

/** The same page, narrowed to the filter's day: entries are listed from the newest on, so it begins below the day's end. */
export function pageOfDay(page: AuditPage, { day }: AuditFilter): AuditPage {
  if (day === undefined) return page;
  const end = idBefore((day + 1) * DAY_MS);
  const after = page.after !== undefined && page.after < end ? page.after : end;
  return { ...page, after, sinceMs: Math.max(page.sinceMs ?? 0, day * DAY_MS) };
}

/** `undefined` if every entry of the page fits. */
export function auditFits({ actor, action }: AuditFilter): ((entry: AuditEntry) => boolean) | undefined {
  if (actor === undefined && action === undefined) return undefined;
  return (entry) => (action === undefined || entry.action === action) && (actor === undefined || entry.actor.toLowerCase().includes(actor));
}
