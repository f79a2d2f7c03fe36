// The list of all teams' events, for whoever sends them: written after the events themselves, which lie in their teams' slots.
import type { RedisConnection } from './redis-connection.ts';
import { EVENTS_KEY, outboxKey } from './redis-keys.ts';

/** A team's id has no space. */
export function memberOf(teamId: string, eventId: string): string {
  return `${teamId} ${eventId}`;
}

/** Adds those of a team that are not in the list: due at once. */
export async function listEvents(redis: RedisConnection, teamId: string, nowMs: number): Promise<void> {
  const ids = await redis.hkeys(outboxKey(teamId));
  if (ids.length > 0) await redis.zadd(EVENTS_KEY, 'NX', ...ids.flatMap((id) => [nowMs, memberOf(teamId, id)]));
}
