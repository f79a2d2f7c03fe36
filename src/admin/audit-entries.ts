// The audit's entries as programs and people read them, with the member names of the admin API; and those of commands that change no
// team or key.
import { auditIdsAlone } from '../domain/audit-entry.ts';
import type { AuditAction, AuditEntry, AuditState } from '../domain/audit-entry.ts';
import { minorRoundedDown } from '../domain/money.ts';
import { rfc3339 } from '../domain/period.ts';
import { answered } from '../domain/store-unavailable.ts';
import type { OperationContext } from './operation-context.ts';
import type { EntryRow } from './operations/audit.ts';
import { numberChanges, planNumbers } from './plan-numbers.ts';

type AuditMembers = Readonly<Record<string, string | number>>;

/** As the admin API answers it. */
export function auditEntryReport({ atMs, actor, action, teamId, keyId, reason, before, after }: AuditEntry): EntryRow {
  return {
    at: rfc3339(atMs),
    actor,
    action,
    team_id: teamId ?? null,
    key_id: keyId ?? null,
    before: membersOf(before, numbersOf(before, after)),
    after: { ...membersOf(after, numbersOf(after, before)), ...(reason === undefined ? {} : { reason }) },
  };
}

function membersOf({ limits: _limits, balanceMicro, nextPlan, ...state }: AuditState, numbers: AuditMembers): AuditMembers {
  const { glossaryId, name, reference, plan, expiresAtMs, requestsPerSecond, characters, allowedAddresses, scopes, windows, ...key } =
    state;
  const members = {
    glossary_id: glossaryId,
    name,
    reference,
    plan,
    ...numbers,
    ...(nextPlan && nextPlanMembers(nextPlan)),
    balance_minor: balanceMicro && minorRoundedDown(balanceMicro),
    ...key,
    expires_at: expiresAtMs && rfc3339(expiresAtMs),
    requests_per_second: requestsPerSecond,
    characters,
    allowed_addresses: allowedAddresses?.join(' '),
    scopes: scopes?.join(' '),
    limits: windows,
  };
  return JSON.parse(JSON.stringify(members)) as AuditMembers;
}

/** `next_plan`, and its numbers as `next_characters` and so on. */
function nextPlanMembers({ name, limits }: NonNullable<AuditState['nextPlan']>): AuditMembers {
  const numbers = Object.entries(planNumbers(limits)).map(([number, value]) => [`next_${number}`, value] as const);
  return { next_plan: name, ...Object.fromEntries(numbers) };
}

/** The numbers of a plan that differ from the other side; all of them if that has none. */
function numbersOf({ limits }: AuditState, other: AuditState): AuditMembers {
  if (limits === undefined) return {};
  if (other.limits === undefined) return planNumbers(limits);
  const changes = numberChanges(other.limits, limits);
  return Object.fromEntries(changes.flatMap(({ number, to }) => (to === null ? [] : [[number, to]])));
}

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
