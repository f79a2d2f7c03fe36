// Criteria for audit entries: who, what, and on which UTC day.
import { expect, test } from 'vitest';
import { auditFits, pageOfDay, readAuditFilter } from '../../../src/admin/audit-filter.ts';
import type { AuditCriterionName } from '../../../src/admin/audit-filter.ts';
import { auditId, idBefore } from '../../../src/domain/audit-entry.ts';
import type { AuditEntry } from '../../../src/domain/audit-entry.ts';

const read = (criteria: Partial<Record<AuditCriterionName, string>>) => readAuditFilter((name) => criteria[name]);
const entry = (actor: string, action: AuditEntry['action']): AuditEntry => ({ actor, action }) as AuditEntry;

function fits(criteria: Parameters<typeof read>[0], one: AuditEntry): boolean {
  const filter = read(criteria);
  if ('fault' in filter) throw new Error(filter.fault);
  return auditFits(filter)?.(one) ?? true;
}

test.each([
  [{}, true],
  [{ actor: 'OPS' }, true],
  [{ actor: 'console:' }, true],
  [{ actor: '10.0.0.7' }, true],
  [{ actor: 'cli:' }, false],
  [{ action: 'revokeKey' }, true],
  [{ action: 'createKey' }, false],
  [{ actor: 'ops', action: 'createKey' }, false],
])('%o', (criteria, expected) => {
  expect(fits(criteria, entry('console:ops@10.0.0.7', 'revokeKey'))).toBe(expected);
});

const PAGE = { teamId: undefined, after: undefined, sinceMs: undefined, limit: 5 };
const DAY_MS = Date.UTC(2026, 10, 22);
const NEXT_MS = Date.UTC(2026, 10, 23);

test('a day begins at its first moment and ends before the next one', () => {
  const filter = read({ day: '2026-11-22' });
  if ('fault' in filter) throw new Error(filter.fault);
  expect(pageOfDay(PAGE, filter)).toEqual({ ...PAGE, sinceMs: DAY_MS, after: idBefore(NEXT_MS) });
  const later = pageOfDay({ ...PAGE, after: auditId(NEXT_MS + 5, 1) }, filter);
  expect(later.after).toBe(idBefore(NEXT_MS));
  const within = auditId(DAY_MS + 5, 1);
  expect(pageOfDay({ ...PAGE, after: within, sinceMs: DAY_MS + 3 }, filter)).toMatchObject({ after: within, sinceMs: DAY_MS + 3 });
});

test('a wrong criterion is named, with what would be right', () => {
  expect(read({ day: '22.11.2026' })).toEqual({ field: 'day', fault: 'must be a UTC day, for example 2026-11-22' });
  expect(read({ action: 'eraseTeam' })).toMatchObject({
    field: 'action',
    fault: expect.stringContaining('must be one of createTeam, ') as string,
  });
  expect(read({ actor: 'x'.repeat(201) })).toMatchObject({ field: 'actor' });
});
