// The ledger: one atomic admission per request, and the settlement of what it reserved. This is the contract for every store.
import type { GlossaryReference } from '../domain/slots.ts';
import type { RequestTag } from '../domain/request-tag.ts';
import type { RequestTrace } from '../domain/request-trace.ts';
import type { StoreUnavailable } from '../domain/store-unavailable.ts';
import type { WindowNumber } from '../domain/window-limits.ts';

export type { GlossaryReference } from '../domain/slots.ts';

/**
 * What a request asks of its team. Rules common to all stores:
 *
 * - Time is the store's clock in whole milliseconds; `now` below is read once per operation.
 * - What is refused reserves nothing. Operations of one team never interleave.
 * - An operation carries a deadline, which the store's driver sets by the store's clock: after it, it does nothing. An admission is sent
 *   once, a settlement as often as it takes: its reservation is found by its `requestId` while it is open, and not afterwards.
 */
export interface AdmissionRequest {
  /** ULID of the request, also the id of the reservation. */
  readonly requestId: string;
  readonly teamId: string;
  readonly keyId: string;
  /** Code points to check against the plan's limit per request; `undefined` if the request has no text. */
  readonly characters: number | undefined;
  /** Whether to reserve `characters`. False for routes without text, and for bodies that break a later rule. */
  readonly reserve: boolean;
  /**
   * How many to reserve, if not all of `characters`: a whole number, less for what costs less than its length, more for what has no
   * limit per request. Only with `reserve`.
   */
  readonly charged?: number | undefined;
  /** How long a reservation is held before it expires, in milliseconds. */
  readonly leaseMs: number;
  /** Must exist and have a dictionary for the pair, which is checked before reserving; only with `reserve`. */
  readonly glossary: GlossaryReference | undefined;
  /** Whether to report the state of the rate window, which costs the store a little. */
  readonly reportRate?: boolean;
  /**
   * The client's address as the listener knows it, or `''` if unknown. Only sent for keys believed to be restricted to certain
   * addresses.
   */
  readonly address?: string | undefined;
  /** The scope that the route needs, `''` if none opens it (domain/scopes.ts). Only sent for keys believed to have scopes. */
  readonly scope?: string | undefined;
  /** Whether to report the team's plan. Omitted if nothing depends on it. */
  readonly reportPlan?: true | undefined;
  /** Under what to count the request if it is charged, and whose settings apply to it. */
  readonly tag?: RequestTag | undefined;
}

/** Identifies a reservation to settle. */
export interface Reservation {
  readonly requestId: string;
  readonly teamId: string;
  readonly characters: number;
  /** When the lease ends, by the store's clock. */
  readonly leaseUntilMs: number;
}

/**
 * The possible answers, in the order in which they are checked. Rules 1 and 2 change nothing but what was due; from the end of rule 3 on a
 * slot is taken and the request is counted in its windows, whatever follows.
 *
 * | | answer | when |
 * |---|---|---|
 * | 1 | `admitted` with the open reservation | the id is open already; any other id is new, whatever it was |
 * | 2 | `key_unknown` | the team has no record of the key; whichever cache named it is stale |
 * | | `key_revoked` | revoked, disabled, or expired (from `expiresAtMs` on) |
 * | | `address_required`, `address_refused` | only certain addresses may use the key, and the request carried none, or another |
 * | | `scope_required`, `scope_missing` | the key has scopes, and the request carried none, or another |
 * | | `tag_disabled` | the settings of the request's tag (`TagRegistry`) say so |
 * | 3 | `rate_limited` | `limit` requests took a slot within the last 1,000 ms: of the team, then the key, then the tag |
 * | | `rate_limited` with `window` | a window of theirs, in the same order, lacks a request or the characters; of several, the last to end |
 * | 4 | `text_too_long` | `characters` exceeds the plan's limit per request |
 * | 5 | `admitted` without a reservation | none was requested |
 * | 6 | `glossary_missing`, `glossary_mismatch` | |
 * | 7 | `quota_exceeded` with `window` | a window's whole number is less than the characters; `periodEndMs` is its end |
 * | | `quota_exceeded` with `of` | used + held + requested exceed the key's limit in the period, the tag's, or the `testAllowance` |
 * | | `quota_exceeded` | if nothing is of the allowance: the same for the team, with its overage |
 * | | `credit_exhausted` | the balance less held credit does not cover the price |
 * | 8 | `admitted` with a reservation | one of the allowance holds no credit and costs nothing, whatever the plan is by its commit |
 *
 * A slot is free again after exactly 1,000 ms; a request takes one in every rate that applies, or in none. The key's last use is stamped
 * from rule 3 on. What a window counts: `WindowCounts` (ledger/counter.ts).
 *
 * Reservations whose lease has ended count as released from that millisecond on. When a period has ended, the one that contains `now`
 * becomes current; open reservations stay in theirs. If the clock steps back, slots move with it: intervals stay and the newest
 * counts as happening now, so that no team is locked out for more than a second or admitted twice.
 *
 * Answers of rules 4 to 8 carry `rate` and `windows` with `reportRate` (the rate with the fewest free slots, every window in order, after
 * this request), and the name of the team's `plan` with `reportPlan`; the latter also a repeated reservation.
 */
export type Admission =
  | { readonly kind: 'key_unknown' }
  | KeyRevoked
  | { readonly kind: 'address_required' | 'address_refused' | 'scope_required' | 'scope_missing' | 'tag_disabled' }
  | RateLimited
  | Placed
  | StoreUnavailable;

/** Absent for the team's limit. If a store never sets it, answers say that the team's limit refused them. */
interface WhoseLimit {
  readonly of?: 'key' | 'tag' | undefined;
}

/** With `window` it is a limit by minute to month, otherwise one of a second or of the period. */
interface WhichLimit extends WhoseLimit {
  readonly window?: WindowNumber | undefined;
}

/**
 * For `fullForMs` the store would refuse this key, from this address and with the same tag, for the same reason, unless somebody
 * changes the team or the key: so long the gateway answers such requests itself. A clock of whole milliseconds may be nearly one
 * behind, so it promises one less. It ends when the key expires, and with the period: another plan may begin. It is 0 for a
 * window of characters, which a release may free.
 */
export interface RateLimited extends WhichLimit {
  readonly kind: 'rate_limited';
  readonly limit: number;
  /** In whole milliseconds of the store's clock; at least 1. */
  readonly retryAfterMs: number;
  /** How long the store goes on refusing: 0 to `retryAfterMs`. If it is absent, the gateway asks each time. */
  readonly fullForMs?: number | undefined;
}

interface KeyRevoked {
  readonly kind: 'key_revoked';
  /** Absent for a revoked key, which nothing can reactivate. */
  readonly reason?: 'disabled' | 'expired';
}

/** The answers to a request that has taken a slot in the window. */
export type Placed = PlaceTaken &
  (
    | Admitted
    | { readonly kind: 'text_too_long'; readonly maxCharacters: number }
    | { readonly kind: 'glossary_missing' }
    | { readonly kind: 'glossary_mismatch' }
    | QuotaExceeded
    | CreditExhausted
  );

interface PlaceTaken {
  readonly rate?: RateStanding | undefined;
  readonly windows?: readonly WindowStanding[] | undefined;
  readonly plan?: string | undefined;
}

/** The state of a rate window just after a request has taken its slot. */
export interface RateStanding extends WhoseLimit {
  /** Slots per 1,000 ms. */
  readonly limit: number;
  /** Slots currently free. */
  readonly remaining: number;
}

/** The state of a number of a window just after a request was counted in it. */
export interface WindowStanding extends WhoseLimit, WindowNumber {
  readonly limit: number;
  /** At least 0. */
  readonly remaining: number;
  /** Until the window ends; at least 1. */
  readonly resetMs: number;
}

export interface Admitted {
  readonly kind: 'admitted';
  readonly reservation: Reservation | undefined;
  /**
   * The dictionary that the glossary reference currently resolves to (`dictionaryFor`). Absent if no glossary was checked, and
   * for a repeated open reservation.
   */
  readonly dictionaryId?: string;
}

export interface QuotaExceeded {
  readonly kind: 'quota_exceeded';
  /** Whose limit it is: a key's own, a tag's, the plan's allowance for test keys, or if absent the team's. */
  readonly of?: 'key' | 'tag' | 'test_keys' | undefined;
  /** If it is a limit by minute to month; otherwise it is one of the period. */
  readonly window?: WindowNumber | undefined;
  readonly characterLimit: number;
  readonly overageCapMinor: number;
  readonly periodEndMs: number;
}

export interface CreditExhausted {
  readonly kind: 'credit_exhausted';
  /** Balance less open reservations, rounded down. */
  readonly balanceMinor: number;
  /** Rounded up. */
  readonly requiredMinor: number;
  readonly currency: string;
}

export type Verdict = 'commit' | 'release';

/**
 * What a settlement did. It settles a reservation that is open, once, and any other id not at all.
 *
 * - `committed`: its characters and one request are charged to the period and key they were reserved for; credit is deducted. They
 *   are counted for the day of the commit (`UsageHistory`), and for the reservation's tag (`RecordTable`, `tag_counts`).
 *   If the commit names fewer characters than were reserved, the rest is released in the same operation, with the credit it
 *   held: the price of a part is the reserved price divided by the reserved characters, times the part, which is always a whole
 *   number. A part of 0 still counts its request. What is not charged comes back to the windows, too.
 * - `released`: nothing is charged.
 * - `absent`: nothing is open under this id, and nothing changes. Its lease has ended, it was settled before, or it was never admitted.
 */
export type Resolution = { readonly kind: 'committed' | 'released' | 'absent' } | StoreUnavailable;

/**
 * How a settlement ended.
 *
 * - `committed`, `released`
 * - `expired`: a commit found nothing open the first time that it was sent: what was delivered is not charged.
 * - `absent`: a release found nothing open. Or a commit that was sent again because its outcome was unknown: an earlier attempt has
 *   perhaps charged it.
 * - `abandoned`: it was given up because the lease ended first or the queue was full.
 */
export type SettlementResult = 'committed' | 'released' | 'expired' | 'absent' | 'abandoned';

/** Checked before a long body is read. It does not matter whether the id is known. */
export interface CallerCheck {
  readonly requestId: string;
  readonly teamId: string;
  readonly keyId: string;
  /** As in `AdmissionRequest`. */
  readonly address?: string | undefined;
  /** As in `AdmissionRequest`. */
  readonly scope?: string | undefined;
  /** As in `AdmissionRequest`, as far as it is known before the body. */
  readonly tag?: RequestTag | undefined;
}

/**
 * Whether an admission at this moment would pass rules 2 and 3 of `Admission`, in that order. `admitted` has no reservation: no
 * slot is taken and nothing is guaranteed. The key's last use is stamped if rule 3 is reached.
 */
export type CheckedCaller = CallerRefusal | { readonly kind: 'admitted'; readonly reservation: undefined } | StoreUnavailable;

/** Reasons to reject a caller before it takes a slot. */
export type CallerRefusal = Exclude<Admission, Placed | StoreUnavailable>;

/**
 * Callbacks for the result of an operation: exactly one is called, once, never before the operation has returned. They must not
 * throw. Callbacks instead of promises, because every request has an admission and a settlement.
 */
export interface Callbacks<Answer> {
  answered(answer: Answer): void;
  /** Called for a bug. The operation had no effect. */
  failed(error: unknown): void;
}

export interface AskedAdmission extends AdmissionRequest, Callbacks<Admission> {}

export interface AskedResolution extends Callbacks<Resolution> {
  readonly teamId: string;
  readonly requestId: string;
  readonly verdict: Verdict;
  /**
   * With `commit`: how many of the reserved characters to charge, a whole number from 0 to all of them; by default all. More than
   * were reserved means all.
   */
  readonly characters?: number | undefined;
}

export interface AskedCheck extends CallerCheck, Callbacks<CheckedCaller> {}

/** A plugin's ledger may return promises instead: see `PluginLedger` in plugin.ts. */
export interface Ledger {
  admit(asked: AskedAdmission): void;
  /** Tries once. After `unavailable` it is unknown whether it ran; repeat it, but charge nothing again if it is `absent` then. */
  resolve(asked: AskedResolution): void;
  /** Before a long body is read and parsed. */
  check(asked: AskedCheck): void;
}

/** Settles reservations for the chain: accepts each verdict at once and retries in the background until the ledger has it. */
export interface Settlements {
  /**
   * `characters`: how many of the reserved characters to charge; by default all. `trace`: that of the request, if it is traced.
   * `settled` is called once, with how it has ended; it must not throw.
   */
  commit(reservation: Reservation, characters?: number, trace?: RequestTrace, settled?: (result: SettlementResult) => void): void;
  release(reservation: Reservation, trace?: RequestTrace): void;
  /** For an admission whose outcome is unknown: releases whatever it may have reserved. */
  releaseUnknown(teamId: string, requestId: string, trace?: RequestTrace): void;
}
