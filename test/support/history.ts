// The history checker: what callers saw and what the store's own journal says, held against each other id by id.
import type { TeamLimits } from '../../src/domain/plan.ts';
import type { KeyUsage, Standing } from '../../src/ports/team-registry.ts';
import type { KeyDay, PeriodUse } from '../../src/ports/usage-history.ts';
import { booksFindings } from '../evidence/faults/laws/books.ts';
import { dayFindings } from '../evidence/faults/laws/days.ts';
import { chargeFindings } from '../evidence/faults/laws/charges.ts';
import { keyFindings } from '../evidence/faults/laws/keys.ts';
import { lifeFindings } from '../evidence/faults/laws/lives.ts';
import { windowFindings } from '../evidence/faults/laws/window.ts';

/** How a request ended for its caller. `unknown`: the connection broke, or the caller broke it off. */
export type SeenResult =
  | { readonly kind: 'ok'; readonly requestId: string; readonly billed: number }
  | { readonly kind: 'fail'; readonly requestId: string; readonly status: number; readonly code: string }
  | { readonly kind: 'unknown' };

/** One request as its caller saw it. Times are whole milliseconds of this machine's wall clock, which is the store's too. */
export interface Seen {
  readonly teamId: string;
  readonly keyId: string;
  /**
   * Code points sent, or what a forward route charges; 0 for a route without either. No two texts of a team are equally long,
   * and none is as long as a forward route charges: that tells whose a reservation is when no answer, and so no id, came back.
   */
  readonly characters: number;
  /** The process that was asked. */
  readonly via: string;
  readonly startedAtMs: number;
  readonly endedAtMs: number;
  /** The reply to the revocation of its key had come before it was sent. */
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
  /** By the store's clock; of `expired`, the end of the lease. */
  readonly atMs: number;
}

/** What one store operation wrote. Operations of a team stand in the order in which the store ran them. */
export interface Operation {
  readonly teamId: string;
  readonly reserved: readonly Reserved[];
  readonly ended: readonly Ended[];
  /** It took a place in the rate window. */
  readonly placedAtMs?: number;
  /** It was turned away by the rate. */
  readonly throttledAtMs?: number;
  readonly lastUse?: { readonly keyId: string; readonly atMs: number };
  readonly revokedKeyId?: string;
  /** The store's counters as it left them; a team has one period in a history. */
  readonly counters: Counters;
}

export interface Counters {
  readonly usedCharacters?: number;
  readonly heldCharacters?: number;
  readonly heldMicro?: number;
  readonly balanceMicro?: number;
}

/** A team before and after. */
export interface TeamBooks {
  readonly teamId: string;
  readonly limits: TeamLimits;
  readonly startMicro: number;
  /** At the end, as the store tells. */
  readonly standing: Standing;
  readonly keys: readonly KeyUsage[];
  readonly days: readonly KeyDay[];
  readonly periods: readonly PeriodUse[];
  /** Records of reservations that lie in the store at the end, whatever the standing says. */
  readonly recordsLeft: number;
}

/** An instant at which what was under way may have been delivered uncharged. */
export interface Crash {
  /** The process that died; `store` when it was the store. */
  readonly via: string;
  readonly atMs: number;
  /**
   * A commit is on its way before the answer is. For so long before the crash it may not have been written down yet: a
   * moment, and more when the machine keeps processes waiting.
   */
  readonly underWayMs: number;
}

export interface History {
  readonly teams: readonly TeamBooks[];
  readonly seen: readonly Seen[];
  readonly operations: readonly Operation[];
  readonly crashes: readonly Crash[];
  /** Ids that the access logs say were answered with 200. Left out where a gateway died, and its log with it. */
  readonly handed?: ReadonlySet<string>;
}

/** A broken law. `L0` is the journal's own: what was acknowledged is in it, and nothing else. */
export interface Finding {
  readonly law: 'L0' | 'L1' | 'L2' | 'L3' | 'L4' | 'L5' | 'L6' | 'L7' | 'L8' | 'L9';
  readonly what: string;
}

/** All that is wrong; empty when every law holds. To be asked when a lease has passed since the last fault. */
export function findings(history: History): Finding[] {
  return [
    ...lifeFindings(history),
    ...chargeFindings(history),
    ...booksFindings(history),
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
  /** Charged, though the caller's connection broke before it had the whole answer: it was handed over and got lost. */
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
