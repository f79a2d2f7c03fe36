// The outbox: what has happened and is still to be told to the operator's receiver, kept by the operations that it tells of.
import type { Micro } from '../domain/money.ts';
import type { StoreUnavailable } from '../domain/store-unavailable.ts';
import type { KeyRecord, Team, Usage } from './team-registry.ts';
import type { PeriodUse } from './usage-history.ts';

/** What an event tells, as it was when it happened. */
export type EventFacts =
  /** Committed characters have reached so many percent of the period's: once in a period. */
  | { readonly kind: 'quota_threshold'; readonly percent: number; readonly usage: Usage }
  /** The balance has fallen to the threshold: once on its way down. */
  | { readonly kind: 'credit_threshold'; readonly thresholdMinor: number; readonly balanceMicro: Micro; readonly currency: string }
  | { readonly kind: 'period_closed'; readonly period: PeriodUse }
  /** A finished day, in whole days since 1970-01-01. */
  | { readonly kind: 'usage_day'; readonly day: number; readonly characters: number; readonly requests: number }
  | { readonly kind: 'team_created' | 'team_updated'; readonly team: Team }
  | { readonly kind: 'team_deleted' }
  | { readonly kind: 'key_created' | 'key_updated' | 'key_revoked'; readonly key: KeyRecord };

export interface KeptEvent {
  /** The same when the operation is repeated, or is made again after a failover has lost it. */
  readonly id: string;
  readonly teamId: string;
  /** When it happened, by the store's clock. */
  readonly atMs: number;
  readonly facts: EventFacts;
}

/** An event whose time to be sent has come. */
export interface DueEvent {
  readonly id: string;
  readonly teamId: string;
  /** How often it was sent in vain. */
  readonly tries: number;
}

/**
 * Written to by the store's other operations, if the store was opened with rules for events, or a gateway that sends them has
 * left its own there within a day. Times are the store's clock.
 */
export interface Outbox {
  /** How many there are, due or not. */
  pending(): Promise<number | StoreUnavailable>;
  /** The first of those that are due, the longest due first. */
  due(limit: number): Promise<readonly DueEvent[] | StoreUnavailable>;
  /** One that is gone is `undefined`. */
  read(event: DueEvent): Promise<KeptEvent | undefined | StoreUnavailable>;
  /** It was delivered, or is given up. */
  remove(event: DueEvent): Promise<StoreUnavailable | undefined>;
  /** It was sent in vain, and is due again after so long. */
  postpone(event: DueEvent, delayMs: number): Promise<StoreUnavailable | undefined>;
  /** Whether `holder` alone may send from now on for so long: nobody else holds the lease, or it has ended. Leaves the rules. */
  lease(holder: string, forMs: number): Promise<boolean | StoreUnavailable>;
  /** Gives it back, if `holder` has it. */
  release(holder: string): Promise<StoreUnavailable | undefined>;
  /**
   * Looks at a few teams for events that were kept and are in no list, because their process ended in between, and goes on there
   * the next time. Left out where that cannot be.
   */
  heal?(): Promise<StoreUnavailable | undefined>;
}
