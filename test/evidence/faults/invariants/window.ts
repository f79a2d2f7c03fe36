// The rate window of each team, by the journal and by what callers were answered.
import type { Finding, History, Operation, Seen } from '../../../support/history.ts';
import { rateFault, wasFull } from '../../../support/auditor/windows.ts';

/** L6, in both directions. */
export function windowFindings({ teams, operations, seen }: History): Finding[] {
  const byTeam = Map.groupBy(operations, ({ teamId }) => teamId);
  const seenByTeam = Map.groupBy(seen, ({ teamId }) => teamId);
  return teams.flatMap(({ teamId, limits: { requestsPerSecond: limit } }) => {
    const own = byTeam.get(teamId) ?? [];
    const faults = [...operationFaults(limit, own), ...answerFaults(limit, own, seenByTeam.get(teamId) ?? [])];
    return faults.map((fault): Finding => ({ invariant: 'L6', what: `team ${teamId} ${fault}` }));
  });
}

function operationFaults(limit: number, operations: readonly Operation[]): string[] {
  const faults: (string | undefined)[] = [];
  let slots: { readonly storeMs: number }[] = [];
  for (const { placedAtMs, throttledAtMs } of operations) {
    if (placedAtMs !== undefined) {
      faults.push(rateFault(slots, limit, false, placedAtMs));
      slots.push({ storeMs: placedAtMs });
    }
    if (throttledAtMs !== undefined) faults.push(rateFault(slots, limit, true, throttledAtMs));
    if (slots.length > 2 * limit) slots = slots.slice(-limit);
  }
  return faults.filter((fault) => fault !== undefined);
}

/** A request that is refused in a batch with admitted ones leaves nothing in the store. */
function answerFaults(limit: number, operations: readonly Operation[], seen: readonly Seen[]): string[] {
  const slots = operations
    .flatMap(({ placedAtMs: storeMs }): { readonly storeMs: number }[] => (storeMs === undefined ? [] : [{ storeMs }]))
    .toSorted((a, b) => a.storeMs - b.storeMs);
  return seen
    .filter(({ result }) => result.kind === 'fail' && result.code === 'rate_limited')
    .filter(({ startedAtMs, endedAtMs }) => !wasFull(slots, limit, startedAtMs, endedAtMs))
    .map(
      ({ startedAtMs, endedAtMs }) => `was refused between ${startedAtMs} and ${endedAtMs} with less than ${limit} slots taken throughout`,
    );
}
