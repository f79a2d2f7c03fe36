// The audit's entries of commands that change no team or key.
import { auditIdsAlone } from '../domain/audit-entry.ts';
import type { AuditAction } from '../domain/audit-entry.ts';
import { answered } from '../domain/store-unavailable.ts';
import type { OperationContext } from './operation-context.ts';

/** Leaves the entry on which every gateway clears its cached translations of a team, or of all teams. Throws a `StoreError`. */
export async function auditClearedMemory(context: OperationContext, teamId: string | undefined, nowMs: number): Promise<void> {
  const newest = answered(await context.options.audit.page({ teamId: undefined, after: undefined, sinceMs: undefined, limit: 1 }));
  // Never before the newest entry, where gateways no longer look.
  await leave(context, 'clearMemory', Math.max(Math.floor(nowMs), newest[0]?.atMs ?? 0), teamId);
}

/** Leaves the entry of a clock that an operator has vouched for, by that clock. Throws a `StoreError`. */
export async function auditAcceptedClock(context: OperationContext, nowMs: number): Promise<void> {
  await leave(context, 'acceptClock', nowMs, undefined);
}

async function leave(context: OperationContext, action: AuditAction, atMs: number, teamId: string | undefined): Promise<void> {
  const entry = { id: auditIdsAlone()(atMs), atMs, teamId, keyId: undefined, before: {}, after: {}, ...context.by(action) };
  answered(await context.options.audit.restore([entry]));
}
