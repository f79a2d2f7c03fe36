// The rate window, by the store's own clock: never a place too many, never a rejection too early.
import { RATE_WINDOW_MS } from '../../../src/domain/reservation.ts';
import type { Finding, History, Operation } from '../../support/history.ts';

/** L6, in both directions. */
export function windowFindings({ teams, operations }: History): Finding[] {
  const byTeam = Map.groupBy(operations, ({ teamId }) => teamId);
  return teams.flatMap(({ teamId, limits }) => teamFindings(teamId, limits.requestsPerSecond, byTeam.get(teamId) ?? []));
}

function teamFindings(teamId: string, limit: number, operations: readonly Operation[]): Finding[] {
  const found: Finding[] = [];
  /** When places were taken, oldest first. */
  let places: number[] = [];
  for (const { placedAtMs, throttledAtMs } of operations) {
    if (placedAtMs !== undefined) {
      const decisive = places.at(-limit);
      if (decisive !== undefined && placedAtMs - decisive < RATE_WINDOW_MS) {
        found.push({ law: 'L6', what: `team ${teamId} was let through at ${placedAtMs}, ${limit} places after ${decisive}` });
      }
      places.push(placedAtMs);
    }
    if (throttledAtMs !== undefined) {
      const taken = places.filter((atMs) => throttledAtMs - atMs < RATE_WINDOW_MS).length;
      if (taken < limit)
        found.push({ law: 'L6', what: `team ${teamId} was turned away at ${throttledAtMs} with ${taken} of ${limit} places taken` });
    }
    if (places.length > 2 * limit) places = places.slice(-limit);
  }
  return found;
}
