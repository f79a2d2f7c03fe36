// A team's keys as operators change them: what a change is, and the audit entry and the event that belong to it.
import { keyDifference, newKeyDifference } from '../../domain/audit-entry.ts';
import type { Audited } from '../../domain/audit-entry.ts';
import { changedLimits, keyStatus } from '../../domain/key-limits.ts';
import { isUnavailable } from '../../domain/store-unavailable.ts';
import type { StoreUnavailable } from '../../domain/store-unavailable.ts';
import type { GroupChange, GroupHead, RecordSpace } from '../../ports/record-space.ts';
import type { KeyChange, KeyRecord, NewKey, TeamRegistry } from '../../ports/team-registry.ts';
import { keyEvent } from './event-record.ts';

type KeyRegistry = Pick<TeamRegistry, 'createKey' | 'updateKey' | 'revokeKey'>;

/** The part of a team registry that changes keys. */
export function keyRegistry(space: RecordSpace): KeyRegistry {
  const changing = async (
    keyId: string,
    decide: (key: KeyRecord, nowMs: number) => GroupChange<KeyRecord>,
  ): Promise<KeyRecord | undefined | StoreUnavailable> => {
    const teamId = await space.teamOf(keyId);
    if (teamId === undefined || isUnavailable(teamId)) return teamId;
    const decided = (_values: unknown, { key, nowMs }: GroupHead): GroupChange<KeyRecord | undefined> =>
      key === undefined ? { result: undefined } : decide(key, nowMs);
    return space.change(teamId, [], decided, keyId);
  };
  return {
    createKey: (key, by) => space.change(key.teamId, [], (_values, head) => creation(key, head, by), key.keyId),
    updateKey: (keyId, change, by) => changing(keyId, (key, nowMs) => update(key, change, nowMs, by)),
    revokeKey: (keyId, by) => changing(keyId, (key) => revocation(key, by)),
  };
}

/** A key that exists already stays unchanged: a creation whose outcome is unknown may be repeated. */
function creation(key: NewKey, { key: known, nowMs }: GroupHead, by: Audited | undefined): GroupChange<KeyRecord> {
  if (known !== undefined) return { result: known };
  const { digest, limits = {}, ...named } = key;
  const status = keyStatus(false, limits, nowMs);
  const result: KeyRecord = { ...named, limits, status, createdAtMs: nowMs, lastUsedAtMs: undefined };
  return { result, key: { record: result, digest }, event: keyEvent('key_created', result), audit: by && { by, ...newKeyDifference(key) } };
}

function update(key: KeyRecord, change: KeyChange, nowMs: number, by: Audited | undefined): GroupChange<KeyRecord> {
  const { label = key.label, disabled = key.status === 'disabled' } = change;
  const limits = changedLimits(key.limits, change.limits ?? {});
  const result: KeyRecord = { ...key, label, limits, status: key.status === 'revoked' ? 'revoked' : keyStatus(disabled, limits, nowMs) };
  const difference = keyDifference(key, result);
  if (difference === undefined) return { result: key };
  return { result, key: { record: result }, event: keyEvent('key_updated', result), audit: by && { by, ...difference } };
}

/** Writes nothing if the key is revoked already; without an audit entry if nobody ordered it. */
function revocation(key: KeyRecord, by?: Audited): GroupChange<KeyRecord> {
  if (key.status === 'revoked') return { result: key };
  const result: KeyRecord = { ...key, status: 'revoked' };
  return { result, key: { record: result }, event: keyEvent('key_revoked', result), audit: by && { by, ...keyDifference(key, result)! } };
}
