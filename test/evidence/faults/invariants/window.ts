// The rate window, by the store's own clock: never a slot too many, never a refusal too early.
import { RATE_WINDOW_MS } from '../../../../src/domain/reservation.ts';
import type { Finding, History, Operation, Seen } from '../../../support/history.ts';

/** L6, in both directions. */
export function windowFindings({ teams, operations, seen }: History): Finding[] {
  const byTeam = Map.groupBy(operations, ({ teamId }) => teamId);
  const seenByTeam = Map.groupBy(seen, ({ teamId }) => teamId);
  return teams.flatMap(({ teamId, limits: { requestsPerSecond: limit } }) => [
    ...teamFindings(teamId, limit, byTeam.get(teamId) ?? []),
    ...answerFindings(teamId, limit, byTeam.get(teamId) ?? [], seenByTeam.get(teamId) ?? []),
  ]);
}

function teamFindings(teamId: string, limit: number, operations: readonly Operation[]): Finding[] {
  const found: Finding[] = [];
  /** When slots were taken, oldest first. */
  let places: number[] = [];
  for (const { placedAtMs, throttledAtMs } of operations) {
    if (placedAtMs !== undefined) {
      const decisive = places.at(-limit);
      if (decisive !== undefined && placedAtMs - decisive < RATE_WINDOW_MS) {
        found.push({ invariant: 'L6', what: `team ${teamId} was let through at ${placedAtMs}, ${limit} places after ${decisive}` });
      }
      places.push(placedAtMs);
    }
    if (throttledAtMs !== undefined) {
      const taken = places.filter((atMs) => throttledAtMs - atMs < RATE_WINDOW_MS).length;
      if (taken < limit)
        found.push({ invariant: 'L6', what: `team ${teamId} was turned away at ${throttledAtMs} with ${taken} of ${limit} places taken` });
    }
    if (places.length > 2 * limit) places = places.slice(-limit);
  }
  return found;
}

/**
 * A request that is refused in a batch with admitted ones leaves nothing in the store: while it was in flight, the window
 * was full at some moment.
 */
function answerFindings(teamId: string, limit: number, operations: readonly Operation[], seen: readonly Seen[]): Finding[] {
  const places = operations.flatMap(({ placedAtMs }) => (placedAtMs === undefined ? [] : [placedAtMs])).toSorted((a, b) => a - b);
  const turnedAway = seen.filter(({ result }) => result.kind === 'fail' && result.code === 'rate_limited');
  const premature = turnedAway.filter(({ startedAtMs, endedAtMs }) => !wasFull(places, limit, startedAtMs, endedAtMs));
  return premature.map(({ startedAtMs, endedAtMs }) => ({
    invariant: 'L6',
    what: `team ${teamId} was turned away between ${startedAtMs} and ${endedAtMs} with less than ${limit} places taken throughout`,
  }));
}

/** Whether `limit` slots lie within the second before some moment of a span. */
function wasFull(places: readonly number[], limit: number, fromMs: number, toMs: number): boolean {
  let [low, high] = [0, places.length];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (places[middle]! + RATE_WINDOW_MS <= fromMs) low = middle + 1;
    else high = middle;
  }
  // The first slot that still counted at the beginning, and each later one that is followed by enough others in time.
  for (let first = low; (places[first + limit - 1] ?? Infinity) <= toMs; first++) {
    if (places[first + limit - 1]! < places[first]! + RATE_WINDOW_MS) return true;
  }
  return false;
}
