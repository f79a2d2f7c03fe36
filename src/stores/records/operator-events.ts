// The events of what operators do with teams and keys.
import { eventIds } from '../../domain/event-rules.ts';
import type { EventChange } from '../../domain/event-rules.ts';
import type { KeptEvent } from '../../ports/outbox.ts';
import type { KeyRecord, Team } from '../../ports/team-registry.ts';

export type NewEvent = Pick<KeptEvent, 'id' | 'facts'>;

/** An event in the making: `change` counts it among those of its team, if its id has to say which one it is. */
export type EventOf = (change: () => EventChange) => NewEvent;

export function teamEvent(kind: 'team_created' | 'team_updated', team: Team): EventOf {
  const { teamId } = team;
  return (change) => ({
    id: kind === 'team_created' ? eventIds.once(teamId, 'created') : eventIds.updated(teamId, change()),
    facts: { kind, team },
  });
}

export function deletionEvent(teamId: string): EventOf {
  return () => ({ id: eventIds.once(teamId, 'deleted'), facts: { kind: 'team_deleted' } });
}

export function keyEvent(kind: 'key_created' | 'key_updated' | 'key_revoked', key: KeyRecord): EventOf {
  const { keyId } = key;
  return (change) => {
    const facts = { kind, key };
    if (kind === 'key_updated') return { id: eventIds.updated(keyId, change()), facts };
    return { id: eventIds.once(keyId, kind === 'key_created' ? 'created' : 'revoked'), facts };
  };
}
