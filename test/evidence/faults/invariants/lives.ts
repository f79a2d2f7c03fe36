// The life of an id in the journal: reserved at most once, ended at most once, in this order and within its lease.
import type { Ended, Finding, History, Operation, Reserved } from '../../../support/history.ts';

export interface Life {
  readonly teamId: string;
  readonly reserved: readonly Reserved[];
  readonly ended: readonly Ended[];
  /** The key had been revoked before the reservation. */
  readonly afterRevocation: boolean;
}

/** Of every id in the journal. */
export function livesOf(operations: readonly Operation[]): ReadonlyMap<string, Life> {
  const lives = new Map<string, { teamId: string; reserved: Reserved[]; ended: Ended[]; afterRevocation: boolean }>();
  const revoked = new Set<string>();
  const lifeOf = (teamId: string, requestId: string) => {
    const known = lives.get(requestId);
    if (known !== undefined) return known;
    const life = { teamId, reserved: [], ended: [], afterRevocation: false };
    lives.set(requestId, life);
    return life;
  };
  for (const { teamId, reserved, ended, revokedKeyId } of operations) {
    for (const entry of reserved) {
      const life = lifeOf(teamId, entry.requestId);
      life.reserved.push(entry);
      life.afterRevocation ||= revoked.has(entry.keyId);
    }
    for (const entry of ended) lifeOf(teamId, entry.requestId).ended.push(entry);
    if (revokedKeyId !== undefined) revoked.add(revokedKeyId);
  }
  return lives;
}

/** L4, and L5 for each id: nothing is still held. */
export function lifeFindings({ operations }: History): Finding[] {
  const found: Finding[] = [];
  for (const [id, life] of livesOf(operations)) {
    const [reserved, again] = life.reserved;
    const [ended, endedAgain] = life.ended;
    if (again !== undefined) found.push({ invariant: 'L4', what: `${id} was reserved ${life.reserved.length} times` });
    if (endedAgain !== undefined) found.push({ invariant: 'L4', what: `${id} ended as ${life.ended.map(({ as }) => as).join(', then ')}` });
    if (ended === undefined) found.push({ invariant: 'L5', what: `${id} is held for ever` });
    else found.push(...endFindings(id, reserved, ended));
  }
  return found;
}

function endFindings(id: string, reserved: Reserved | undefined, { as, atMs }: Ended): Finding[] {
  if (reserved === undefined) return [{ invariant: 'L4', what: `${id} was ${as} without having been reserved` }];
  const { leaseUntilMs } = reserved;
  if (as === 'expired')
    return atMs === leaseUntilMs ? [] : [{ invariant: 'L4', what: `${id} expired at ${atMs}, its lease ends at ${leaseUntilMs}` }];
  return atMs < leaseUntilMs ? [] : [{ invariant: 'L4', what: `${id} was ${as} at ${atMs}, behind its lease's end at ${leaseUntilMs}` }];
}
