// The events of what operators do with teams and keys.
import { eventIds } from '../../domain/event-rules.ts';
import type { NewEvent } from '../../ports/record-space.ts';
import type { KeyRecord, Team } from '../../ports/team-registry.ts';

export function teamEvent(kind: 'team_created' | 'team_updated', team: Team): NewEvent {
  const facts = { kind, team };
  if (kind === 'team_updated') return { id: eventIds.updated(team.teamId), numbered: true, facts };
  return { id: eventIds.once(team.teamId, 'created'), facts };
}

export function deletionEvent(teamId: string): NewEvent {
  return { id: eventIds.once(teamId, 'deleted'), facts: { kind: 'team_deleted' } };
}

export function keyEvent(kind: 'key_created' | 'key_updated' | 'key_revoked', key: KeyRecord): NewEvent {
  const facts = { kind, key };
  if (kind === 'key_updated') return { id: eventIds.updated(key.keyId), numbered: true, facts };
  return { id: eventIds.once(key.keyId, kind === 'key_created' ? 'created' : 'revoked'), facts };
}
