// What operators change in the reference store: how a change of a team or a key is judged, and what the audit and events say of it.
import { isDeepStrictEqual } from 'node:util';
import type { AuditDifference, Audited, AuditEntry, AuditRecord, BalanceOutOfBounds, CreditNotFree, KeyChange, KeyRecord } from 'lingate';
import type { Micro, NewEvent, NewKey, OtherRequest, Team, TeamChange } from 'lingate';
import { isPeriod } from './calendar.ts';

/** What is written besides a change: nothing if it changed nothing. */
export interface Recorded {
  readonly difference: AuditDifference | undefined;
  readonly event: NewEvent;
}

export function changeOfTeam(
  team: Team,
  heldMicro: Micro,
  { name, reference, plan, nextPlan, addMicro = 0 }: TeamChange,
  by: Audited | undefined,
): Team | BalanceOutOfBounds | CreditNotFree {
  const balanceMicro = team.balanceMicro + addMicro;
  if (!Number.isSafeInteger(balanceMicro)) return { kind: 'balance_out_of_bounds' };
  if (addMicro < 0 && balanceMicro < heldMicro) return { kind: 'credit_not_free', freeMicro: team.balanceMicro - heldMicro };
  for (const one of [plan, nextPlan]) if (one && !isPeriod(one.limits.period)) throw new RangeError(`not a period: ${one.limits.period}`);
  const changed: { -readonly [Member in keyof Team]: Team[Member] } = { ...team, balanceMicro, name: name ?? team.name };
  if (plan !== undefined) Object.assign(changed, { plan: plan.name, limits: plan.limits });
  if (reference === null) delete changed.reference;
  if (typeof reference === 'string') changed.reference = reference;
  if (nextPlan === null) delete changed.nextPlan;
  if (nextPlan) changed.nextPlan = by === undefined ? nextPlan : { ...nextPlan, by };
  return changed;
}

export function isRefusal(
  answer: Team | BalanceOutOfBounds | CreditNotFree | OtherRequest,
): answer is BalanceOutOfBounds | CreditNotFree | OtherRequest {
  return 'kind' in answer;
}

export function creationOfTeam(team: Team): Recorded {
  const { name, reference, plan, limits, balanceMicro } = team;
  const after = {
    name,
    ...(reference === undefined ? {} : { reference }),
    plan,
    limits,
    ...(limits.billing === 'credit' ? { balanceMicro } : {}),
  };
  return { difference: { before: {}, after }, event: { id: `${team.teamId}-created`, facts: { kind: 'team_created', team } } };
}

export function updateOfTeam(before: Team, team: Team): Recorded {
  const audited = ({ name, reference, plan, limits, balanceMicro, nextPlan }: Team) => ({
    name,
    reference,
    plan,
    limits,
    balanceMicro,
    nextPlan: nextPlan && { name: nextPlan.name, limits: nextPlan.limits },
  });
  const event: NewEvent = { id: `${team.teamId}-updated`, numbered: true, facts: { kind: 'team_updated', team } };
  return { difference: differing(audited(before), audited(team)), event };
}

export function deletionOfTeam({ teamId, plan }: Team): Recorded {
  return { difference: { before: { plan }, after: {} }, event: { id: `${teamId}-deleted`, facts: { kind: 'team_deleted' } } };
}

export function creationOfKey({ display, label, mode, limits = {} }: NewKey, key: KeyRecord): Recorded {
  const after = { display, label, mode, status: 'active' as const, ...limits };
  return { difference: { before: {}, after }, event: { id: `${key.keyId}-created`, facts: { kind: 'key_created', key } } };
}

/** Disabled is what an operator says, expired what time says: it is found again whenever the key is looked at. */
export function changedKey(key: KeyRecord, { label = key.label, disabled = key.status === 'disabled', limits = {} }: KeyChange): KeyRecord {
  const merged = Object.entries({ ...key.limits, ...limits }).filter(([, value]) => value !== null && value !== undefined);
  const status = key.status === 'revoked' ? 'revoked' : disabled ? 'disabled' : 'active';
  return { ...key, label, limits: Object.fromEntries(merged), status };
}

export function updateOfKey(before: KeyRecord, key: KeyRecord): Recorded {
  const audited = ({ label, status, limits }: KeyRecord) => ({ label, status: status === 'expired' ? 'active' : status, ...limits });
  const difference = differing(audited(before), audited(key));
  if (key.status === 'revoked' && before.status !== 'revoked')
    return { difference, event: { id: `${key.keyId}-revoked`, facts: { kind: 'key_revoked', key } } };
  return { difference, event: { id: `${key.keyId}-updated`, numbered: true, facts: { kind: 'key_updated', key } } };
}

type State = Readonly<Record<string, unknown>>;

/** The members that are not the same on both sides, where they are there at all; `undefined` if all are the same. */
function differing(before: State, after: State): AuditDifference | undefined {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].filter(
    (name) => !isDeepStrictEqual(before[name], after[name]),
  );
  const only = (state: State): State =>
    Object.fromEntries(names.flatMap((name) => (state[name] === undefined ? [] : [[name, state[name]]])));
  return names.length === 0 ? undefined : { before: only(before), after: only(after) };
}

/** `MILLISECONDS` in fifteen digits and a number within them in sixteen. */
export function auditIdAt(atMs: number, serial: number): string {
  return String(Math.max(0, Math.floor(atMs))).padStart(15, '0') + String(serial).padStart(16, '0');
}

export function newestFirst(one: AuditEntry, other: AuditEntry): number {
  return one.id > other.id ? -1 : 1;
}

/** Of a deleted team: without what could name a person. */
export function nameless({ id, atMs, teamId, ...record }: AuditEntry): AuditEntry {
  const { reason: _reason, before, after, ...rest } = record;
  const strip = (state: AuditRecord['before']): AuditRecord['before'] => {
    const {
      name: _name,
      reference: _reference,
      label: _label,
      display: _display,
      allowedAddresses: _addresses,
      tag: _tag,
      ...left
    } = state;
    return left;
  };
  return { id, atMs, teamId, ...rest, before: strip(before), after: strip(after) };
}
