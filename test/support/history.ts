// The history checker: compares what callers saw with the store's own journal, id by id.
import type { TeamLimits } from '../../src/domain/plan.ts';
import type { KeyUsage, Standing } from '../../src/ports/team-registry.ts';
import type { KeyDay, PeriodUse } from '../../src/ports/usage-history.ts';
import { accountFindings } from '../evidence/faults/invariants/accounts.ts';
import { dayFindings } from '../evidence/faults/invariants/days.ts';
import { chargeFindings } from '../evidence/faults/invariants/charges.ts';
import { keyFindings } from '../evidence/faults/invariants/keys.ts';
import { lifeFindings } from '../evidence/faults/invariants/lives.ts';
import { windowFindings } from '../evidence/faults/invariants/window.ts';

/** How a request ended for its caller. `unknown`: the connection broke, or the caller aborted it. */
export type SeenResult =
  | { readonly kind: 'ok'; readonly requestId: string; readonly billed: number }
  | { readonly kind: 'fail'; readonly requestId: string; readonly status: number; readonly code: string }
  | { readonly kind: 'unknown' };

/** One request as its caller saw it. Times are whole milliseconds of this machine's wall clock, which the store uses too. */
export interface Seen {
  readonly teamId: string;
  readonly keyId: string;
  /**
   * Code points sent, or what a forward route charges; 0 for a route without either. No two texts of a team have the same
   * length, and none equals what a forward route charges: that identifies a reservation if no answer, and so no id, came back.
   */
  readonly characters: number;
  /** The process that handled it. */
  readonly via: string;
  readonly startedAtMs: number;
  readonly endedAtMs: number;
  /** It was sent after the reply to the revocation of its key. */
  readonly afterRevocation: boolean;
  readonly result: SeenResult;
}

export interface Reserved {
  readonly requestId: string;
  readonly keyId: string;
  readonly characters: number;
  readonly micro: number;
  readonly leaseUntilMs: number;
}

export interface Ended {
  readonly requestId: string;
  readonly as: 'committed' | 'released' | 'expired';
  /** By the store's clock; for `expired`, the end of the lease. */
  readonly atMs: number;
}

/** What one store operation wrote. A team's operations are in the order in which the store ran them. */
export interface Operation {
  readonly teamId: string;
  readonly reserved: readonly Reserved[];
  readonly ended: readonly Ended[];
  /** When it took a slot of the rate window. */
  readonly placedAtMs?: number;
  /** When the rate limit refused it. */
  readonly throttledAtMs?: number;
  readonly lastUse?: { readonly keyId: string; readonly atMs: number };
  readonly revokedKeyId?: string;
  /** The store's counters after it; a team has one period in a history. */
  readonly counters: Counters;
}

export interface Counters {
  readonly usedCharacters?: number;
  readonly heldCharacters?: number;
  readonly heldMicro?: number;
  readonly balanceMicro?: number;
}

/** A team before and after. */
export interface TeamAccount {
  readonly teamId: string;
  readonly limits: TeamLimits;
  readonly startMicro: number;
  /** At the end, as the store reports it. */
  readonly standing: Standing;
  readonly keys: readonly KeyUsage[];
  readonly days: readonly KeyDay[];
  readonly periods: readonly PeriodUse[];
  /** Reservations that are still stored at the end, whatever the standing says. */
  readonly recordsLeft: number;
}

/** A moment at which requests in flight may have been delivered uncharged. */
export interface Crash {
  /** The process that died; `store` if it was the store. */
  readonly via: string;
  readonly atMs: number;
  /**
   * A commit is sent before the answer is. This long before the crash it may not have been written yet: a moment, and
   * longer if the machine keeps processes waiting.
   */
  readonly underWayMs: number;
}

export interface History {
  readonly teams: readonly TeamAccount[];
  readonly seen: readonly Seen[];
  readonly operations: readonly Operation[];
  readonly crashes: readonly Crash[];
  /** Ids that were answered with 200 according to the access logs. Absent if a gateway died, and its log with it. */
  readonly handed?: ReadonlySet<string>;
}

/** A violated invariant. `L0` is about the journal itself: it contains exactly what was acknowledged. */
export interface Finding {
  readonly invariant: 'L0' | 'L1' | 'L2' | 'L3' | 'L4' | 'L5' | 'L6' | 'L7' | 'L8' | 'L9';
  readonly what: string;
}

/** Everything that is wrong; empty if every invariant holds. Call it one lease after the last fault. */
export function findings(history: History): Finding[] {
  return [
    ...lifeFindings(history),
    ...chargeFindings(history),
    ...accountFindings(history),
    ...windowFindings(history),
    ...keyFindings(history),
    ...dayFindings(history),
  ];
}

export interface Figures {
  readonly ok: number;
  readonly failed: number;
  readonly unknown: number;
  readonly okCharacters: number;
  readonly chargedCharacters: number;
  /** Charged, though the caller's connection broke before it had the whole answer: it was delivered and got lost. */
  readonly chargedUnknownCharacters: number;
  /** Delivered and not charged. */
  readonly uncharged: number;
}

/** Sums over a history, for the report. */
export function figuresOf({ seen, operations }: History): Figures {
  const reserved = new Map(
    operations.flatMap((operation) => operation.reserved.map((entry) => [entry.requestId, entry.characters] as const)),
  );
  const committed = new Set(
    operations.flatMap(({ ended }) => ended.filter(({ as }) => as === 'committed').map(({ requestId }) => requestId)),
  );
  const answered = seen.flatMap(({ result }) => (result.kind === 'ok' ? [result] : []));
  const okIds = new Set(answered.map(({ requestId }) => requestId));
  const charge = (ids: Iterable<string>) => [...ids].reduce((sum, id) => sum + (reserved.get(id) ?? 0), 0);
  return {
    ok: answered.length,
    failed: seen.filter(({ result }) => result.kind === 'fail').length,
    unknown: seen.filter(({ result }) => result.kind === 'unknown').length,
    okCharacters: answered.reduce((sum, { billed }) => sum + billed, 0),
    chargedCharacters: charge(committed),
    chargedUnknownCharacters: charge([...committed].filter((id) => !okIds.has(id))),
    uncharged: [...okIds].filter((id) => !committed.has(id)).length,
  };
}
