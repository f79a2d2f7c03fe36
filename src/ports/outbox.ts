// The outbox: events still to be sent to the operator's receiver, stored by the operations that caused them.
import type { Micro } from '../domain/money.ts';
import type { WindowNumber } from '../domain/window-limits.ts';
import type { StoreUnavailable } from '../domain/store-unavailable.ts';
import type { KeyRecord, Team, Usage } from './team-registry.ts';
import type { PeriodUse } from './usage-history.ts';

/** The facts of an event, as of when it happened. */
export type EventFacts =
  /** Committed characters have reached this percentage of the period's limit: once per period. */
  | { readonly kind: 'quota_threshold'; readonly percent: number; readonly usage: Usage }
  /** The balance has fallen to the threshold: once on its way down. */
  | { readonly kind: 'credit_threshold'; readonly thresholdMinor: number; readonly balanceMicro: Micro; readonly currency: string }
  | LimitReached
  | { readonly kind: 'period_closed'; readonly period: PeriodUse }
  /** A finished day, in whole days since 1970-01-01. */
  | { readonly kind: 'usage_day'; readonly day: number; readonly characters: number; readonly requests: number }
  | { readonly kind: 'team_created' | 'team_updated'; readonly team: Team }
  | { readonly kind: 'team_deleted' }
  | EngineLimit
  | DocumentDone
  | { readonly kind: 'key_created' | 'key_updated' | 'key_revoked'; readonly key: KeyRecord };

/** An engine has used up the characters of its window. Not a team's: the engine is in place of the team. */
interface EngineLimit {
  readonly kind: 'engine_limit';
  readonly engine: string;
  readonly per: string;
  readonly most: number;
  readonly characters: number;
  readonly resetsAtMs: number;
}

/** A document has been translated, or has ended in an error. */
interface DocumentDone {
  readonly kind: 'document_done';
  readonly documentId: string;
  /** The key of the upload. */
  readonly keyId: string;
  /** By the ending of its name: `docx`. */
  readonly format: string;
  readonly state: 'done' | 'error';
  /** With `error`: a problem code. */
  readonly code?: string;
  /** What was charged; 0 with `error`. */
  readonly characters: number;
}

/** A refusal for a limit, with the usage at that moment. */
export type LimitReached = {
  readonly kind: 'limit_reached';
  /** The key whose own limit it was; absent for the team's. */
  readonly keyId?: string | undefined;
  /** The tag whose settings have the limit. */
  readonly tag?: string | undefined;
  /** Whether it was the plan's allowance for test keys. */
  readonly testKeys?: true;
  readonly usage: Usage;
} &
  /** The first in the period. What the request needed. */
  (
    | { readonly code: 'quota_exceeded'; readonly window?: undefined; readonly requiredCharacters: number }
    /** The first since credit was last added. */
    | { readonly code: 'credit_exhausted'; readonly window?: undefined; readonly requiredMicro: Micro }
    /** The first by this window, of requests or characters; without characters if the request would not have reserved any. */
    | { readonly code: 'rate_limited' | 'quota_exceeded'; readonly window: WindowNumber; readonly requiredCharacters?: number }
  );

export interface OutboxEvent {
  /** Stays the same if the operation is repeated, or is run again after a failover lost it. */
  readonly id: string;
  readonly teamId: string;
  /** When it happened, by the store's clock. */
  readonly atMs: number;
  readonly facts: EventFacts;
}

/** An event that is due to be sent. */
export interface DueEvent {
  readonly id: string;
  readonly teamId: string;
  /** Number of failed deliveries. */
  readonly tries: number;
}

/**
 * Other operations of the store write to it, if the store was opened with event rules or a gateway that sends events has stored
 * its rules within the last day. Times are by the store's clock.
 */
export interface Outbox {
  /** Number of events, due or not. */
  pending(): Promise<number | StoreUnavailable>;
  /** The first of the due events, longest due first. */
  due(limit: number): Promise<readonly DueEvent[] | StoreUnavailable>;
  /** `undefined` if the event is gone. */
  read(event: DueEvent): Promise<OutboxEvent | undefined | StoreUnavailable>;
  /** Removes an event that was delivered or given up. */
  remove(event: DueEvent): Promise<StoreUnavailable | undefined>;
  /** Reschedules an event after a failed delivery. */
  postpone(event: DueEvent, delayMs: number): Promise<StoreUnavailable | undefined>;
  /** Grants `holder` the exclusive right to send for `forMs`, unless another holder's lease is still valid. Also stores the rules. */
  lease(holder: string, forMs: number): Promise<boolean | StoreUnavailable>;
  /** Ends the lease, if `holder` has it. */
  release(holder: string): Promise<StoreUnavailable | undefined>;
}
