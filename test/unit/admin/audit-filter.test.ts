// Criteria for audit entries: who, what, and on which UTC day.
import { expect, test } from 'vitest';
import { OperationContext } from '../../../src/admin/operation-context.ts';
import { listAudit } from '../../../src/admin/operations/audit.ts';
import { auditId } from '../../../src/domain/audit-entry.ts';
import type { AuditEntry } from '../../../src/domain/audit-entry.ts';
import type { AuditLog } from '../../../src/ports/audit-log.ts';

const DAY_MS = Date.UTC(2026, 10, 22);
const entry = (atMs: number, actor: string, action: AuditEntry['action']): AuditEntry => ({
  id: auditId(atMs, 1),
  atMs,
  actor,
  action,
  teamId: undefined,
  keyId: undefined,
  before: {},
  after: {},
});
/** Newest first. */
const ENTRIES = [
  entry(DAY_MS + 86_400_000, 'cli:ada@host', 'createTeam'),
  entry(DAY_MS + 86_399_999, 'console:ops@10.0.0.7', 'revokeKey'),
  entry(DAY_MS, 'admin:ops@10.0.0.7', 'createKey'),
  entry(DAY_MS - 1, 'console:ops@10.0.0.8', 'revokeKey'),
];

async function found(criteria: object): Promise<unknown[]> {
  const page: AuditLog['page'] = async ({ after, sinceMs = 0, limit }) =>
    ENTRIES.filter(({ id, atMs }) => (after === undefined || id < after) && atMs >= sinceMs).slice(0, limit);
  const context = new OperationContext({ audit: { page } } as unknown as OperationContext['options']);
  const listed = await listAudit.listing!.page(context, criteria as never, undefined, 10);
  if (listed.kind !== 'done') throw new Error(listed.kind);
  return listed.value.rows.map((row) => ENTRIES.findIndex(({ atMs }) => atMs === Date.parse((row as { readonly at: string }).at)));
}

test.each([
  [{}, [0, 1, 2, 3]],
  [{ actor: 'OPS' }, [1, 2, 3]],
  [{ actor: '10.0.0.7' }, [1, 2]],
  [{ action: 'revokeKey' }, [1, 3]],
  [{ actor: 'cli:', action: 'revokeKey' }, []],
  [{ day: '2026-11-22' }, [1, 2]],
  [{ day: '2026-11-22', action: 'revokeKey' }, [1]],
  [{ since: '2026-11-22' }, [0, 1, 2]],
  [{ since: '2026-11-23', day: '2026-11-22' }, []],
])('%o', async (criteria, expected) => {
  expect(await found(criteria)).toEqual(expected);
});
