// The ledger: one atomic admission per request, and the resolution of what it reserved. The law for every store.
import type { GlossaryReference } from '../domain/charge.ts';
import type { StoreUnavailable } from '../domain/store-unavailable.ts';

export type { GlossaryReference } from '../domain/charge.ts';

/**
 * What a request asks of its team. Rules common to all stores:
 *
 * - Time is the store's clock in whole milliseconds; `now` below is one reading of it per operation.
 * - Everything is checked first, then everything is written. Operations of one team never interleave.
 * - An operation is identified by its `requestId` and carries a deadline that the store's driver adds by the store's
 *   clock: run twice it counts once, run after its deadline it does nothing.
 */
export interface AdmissionRequest {
  /** ULID of the request; the reservation's id. */
  readonly requestId: string;
  readonly teamId: string;
  readonly keyId: string;
  /** Code points to judge against the plan's limit per request; `undefined` when the request has no text to measure. */
  readonly characters: number | undefined;
  /** Whether `characters` are reserved. False for routes without text, and for bodies that break a later rule. */
  readonly reserve: boolean;
  /** How long a reservation is held before it is released by itself, in milliseconds. */
  readonly leaseMs: number;
  /** Checked for existence and a dictionary of the pair before the reservation; only with `reserve`. */
  readonly glossary: GlossaryReference | undefined;
  /** Whether the answer is to say how the request rate stands, which costs the store a little. */
  readonly reportRate?: boolean;
  /**
   * The client's address as the listener knows it, `''` where it knows none. Only sent where the key is thought to be allowed
   * from certain addresses: the others need none.
   */
  readonly address?: string | undefined;
  /** Whether the answer is to name the team's plan. Left out where nothing depends on it. */
  readonly reportPlan?: true | undefined;
}

/** What a reservation is resolved by. */
export interface Reservation {
  readonly requestId: string;
  readonly teamId: string;
  readonly characters: number;
  /** When the lease ends, by the store's clock. */
  readonly leaseUntilMs: number;
}

/**
 * The answers, in the order in which they are checked:
 *
 * 1. `repeated`: an operation of this id has been run before and was not left open. (One that left an open reservation
 *    is answered `admitted` with that reservation again, and changes nothing.)
 * 2. `key_unknown`: the team has no record of the key; whatever cache named it is stale. `key_revoked`: also of a key that is
 *    disabled, or that has expired: from its `expiresAtMs` on.
 *    `address_wanted`: the key is allowed from certain addresses, and the request came without one. `address_refused`: from
 *    another one. None of these changes anything: the same id can be asked again, with the address.
 * 3. `rate_limited`: of the last 1,000 ms, `limit` requests have been admitted to a place in the window. A place is
 *    free again when exactly 1,000 ms have passed. The key's last use is stamped, no place is taken.
 *    The team's window is judged, then that of the key, if it has a rate of its own: a request takes a place in both or in none.
 *    From here on a place in the window is taken, the last use is stamped, and the id is remembered, whatever follows.
 * 4. `text_too_long`: `characters` is over the plan's limit per request.
 * 5. `admitted` without a reservation, when none was asked for.
 * 6. `glossary_missing`, `glossary_mismatch`.
 * 7. `quota_exceeded`: the key's used + held + characters of the team's current period would pass the key's own limit;
 *    `characterLimit` is that one, `overageCapMinor` 0.
 *    Otherwise `quota_exceeded`: used + held + characters of the current period would pass the limit and its overage.
 *    `credit_exhausted`: balance less held credit does not cover the characters' price.
 * 8. `admitted` with a reservation.
 *
 * Reservations whose lease has ended count as released from that millisecond on, whether or not anyone has come to
 * sweep them. A period that has ended is followed by the one that holds `now`; open reservations stay in theirs.
 * A clock that steps back moves the window's places along with it: intervals between them are kept, and the newest
 * counts as happening now, so that no team is locked out for longer than a second nor let through twice. A key's window
 * is another window: it is looked at, and moved, when its rate is judged.
 *
 * With `reportRate`, every answer that has taken a place carries `rate`, from the reading that decided: the team's window, or
 * the key's where fewer places are left in that. Without it, and in answers that have taken none, there is no `rate`; whoever is
 * `rate_limited` has no place left.
 *
 * With `reportPlan`, every answer that has taken a place carries `plan`, the name of the team's plan at that moment; so does
 * an open reservation that is answered again. Without it there is none.
 */
export type Admission =
  | { readonly kind: 'repeated' }
  | { readonly kind: 'key_unknown' }
  | KeyRevoked
  | { readonly kind: 'address_wanted' | 'address_refused' }
  | { readonly kind: 'rate_limited'; readonly limit: number; readonly retryAfterMs: number }
  | Placed
  | StoreUnavailable;

export interface KeyRevoked {
  readonly kind: 'key_revoked';
  /** Left out of the answer for a key that was revoked, which nothing brings back. */
  readonly reason?: 'disabled' | 'expired';
}

/** The answers to a request that has a place in the window. */
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
  readonly plan?: string | undefined;
}

/** How a window stands when a request has taken its place in it. */
export interface RateStanding {
  /** Places of any 1,000 ms. */
  readonly limit: number;
  /** Places that are free at this moment. */
  readonly remaining: number;
}

export interface Admitted {
  readonly kind: 'admitted';
  readonly reservation: Reservation | undefined;
  /**
   * The dictionary that serves the glossary's reference at this moment (`dictionaryFor`). Left out where no glossary was
   * checked, and where an open reservation is answered again.
   */
  readonly dictionaryId?: string;
}

export interface QuotaExceeded {
  readonly kind: 'quota_exceeded';
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
 * How an id stands after a resolution. Each id has one terminal state; resolving again reports it and changes nothing,
 * whatever part of it a repetition names.
 *
 * - `committed`: its characters are charged to the period and key it was reserved for, and one request; credit is deducted.
 *   Where the commit says how many of them are charged, the others are released in the same operation, and so is the credit
 *   that they hold: the price of a part is what was reserved, divided by the reserved characters, times those of the part,
 *   which is whole. A part of 0 counts its request, too.
 * - `released`: nothing is charged. An id that was admitted without a reservation stands so from the start. Releasing
 *   an id that the store does not know makes it stand so too, and thereby bars a later admission of that id: the
 *   release may have overtaken an admission whose outcome was unknown.
 * - `expired`: the lease ended first; nothing is charged.
 * - `absent`: a commit for an id that the store does not know, or no longer remembers.
 *
 * A terminal state is remembered for `REMEMBER_MS` (domain/reservation.ts): counted from the admission or resolution,
 * and for `expired` from the end of the lease. From that millisecond on the id counts as never seen.
 */
export type Resolution = { readonly kind: 'committed' | 'released' | 'expired' | 'absent' } | StoreUnavailable;

/** How a settlement ended: the ledger's answer, or `abandoned` where the verdict was given up, because the lease ended first or the queue was full. */
export type SettlementResult = Exclude<Resolution['kind'], 'unavailable'> | 'abandoned';

/** What is asked before a long body is read. The id is not remembered, and plays no part if it is known. */
export interface CallerCheck {
  readonly requestId: string;
  readonly teamId: string;
  readonly keyId: string;
  /** As in `AdmissionRequest`. */
  readonly address?: string | undefined;
}

/**
 * Whether an admission at this moment would get as far as the request itself: rules 2 and 3 of `Admission`, in this order.
 * `admitted` has no reservation: no place is taken, nothing is promised. The last use of a key is stamped where rule 3 is reached.
 */
export type CheckedCaller = CallerRefusal | { readonly kind: 'admitted'; readonly reservation: undefined } | StoreUnavailable;

/** What stands against a caller before it takes a place. */
export type CallerRefusal = Extract<
  Admission,
  { readonly kind: 'key_unknown' | 'key_revoked' | 'address_wanted' | 'address_refused' | 'rate_limited' }
>;

/**
 * What an operation calls with its answer: one of the two, once, never before the call that asked has returned. They must not
 * throw. Callbacks in place of promises, because an admission and a resolution are made for every request.
 */
export interface Callbacks<Answer> {
  answered(answer: Answer): void;
  /** Called for a bug. Nothing was done for what was asked. */
  failed(error: unknown): void;
}

export interface AskedAdmission extends AdmissionRequest, Callbacks<Admission> {}

export interface AskedResolution extends Callbacks<Resolution> {
  readonly teamId: string;
  readonly requestId: string;
  readonly verdict: Verdict;
  /**
   * With `commit`: how many of the reserved characters are charged, a whole number from 0 to all of them; without it, all. Only
   * for a ledger that `chargesParts`. More than were reserved are all.
   */
  readonly characters?: number | undefined;
}

export interface AskedCheck extends CallerCheck, Callbacks<CheckedCaller> {}

/** A plugin's ledger may return promises instead: `PluginLedger` in plugin.ts. */
export interface Ledger {
  admit(asked: AskedAdmission): void;
  /** Tries once. `unavailable` leaves it unknown whether it was run; repeat it by id. */
  resolve(asked: AskedResolution): void;
  /** Optional: without it long bodies are read and parsed before the admission judges key and rate. */
  check?(asked: AskedCheck): void;
  /** Whether a commit may charge less than was reserved. Without it, everything that was reserved is charged, and said to be. */
  readonly chargesParts?: boolean;
}

/** Settles reservations for the chain: takes each verdict at once, and repeats it in the background until the ledger has it. */
export interface Settlements {
  /** `characters`: how many of the reserved ones are charged; without it, all. Only where the ledger `chargesParts`. */
  commit(reservation: Reservation, characters?: number): void;
  release(reservation: Reservation): void;
  /** For an admission whose outcome is unknown: releases whatever it may have reserved. */
  releaseUnknown(teamId: string, requestId: string): void;
}
