// Teams and their keys, as operators manage them: create, change, list, revoke, report.
import type { KeyDigest, KeyMode } from '../domain/api-key.ts';
import type { KeyLimitChange, KeyLimits } from '../domain/key-limits.ts';
import type { Micro } from '../domain/money.ts';
import type { TeamLimits } from '../domain/plan.ts';
import type { StoreUnavailable } from '../domain/store-unavailable.ts';
import type { Audited } from '../domain/audit-entry.ts';
import type { UsageFigures } from '../domain/usage-days.ts';
import type { WindowUse } from '../domain/window-limits.ts';

export interface NewTeam {
  /** ULID. */
  readonly teamId: string;
  readonly name: string;
  /** The operator's own word for the team, such as a customer number; need not be unique. */
  readonly reference?: string;
  /** Name of the plan from which `limits` were copied. */
  readonly plan: string;
  readonly limits: TeamLimits;
  /** Starting credit; 0 with quota billing. */
  readonly balanceMicro: Micro;
}

/** A plan that a team gets when its current period ends. */
interface NextPlan {
  readonly name: string;
  /** The plan's numbers when the change was ordered. */
  readonly limits: TeamLimits;
  /** Who ordered it, for the audit entry of when it takes effect: set by the store. */
  readonly by?: Audited;
}

export interface Team extends NewTeam {
  /** The change of plan that waits for the end of the current period. */
  readonly nextPlan?: NextPlan;
  /** By the store's clock. The team's periods are counted from it until their length is changed. */
  readonly createdAtMs: number;
}

/** A page of teams: where it begins and what it contains. */
export interface TeamPage {
  /** The last team of the previous page; `undefined` for the first page. */
  readonly after: string | undefined;
  /** Maximum number of teams. */
  readonly limit: number;
  /** Only teams whose name, reference or id contains this text, ignoring ASCII case; `undefined` for all. */
  readonly search: string | undefined;
  /** With `search`: only teams of which the name or the reference is this text, ignoring ASCII case. */
  readonly exact?: true;
}

export interface TeamChange {
  readonly name?: string;
  /** `null` removes it. */
  readonly reference?: string | null;
  readonly plan?: { readonly name: string; readonly limits: TeamLimits };
  /**
   * Replaces the change that waits for the end of the current period; `null` takes it back. It takes effect in the same atomic
   * operation that begins the next period, whichever that is; a different period length is counted from the end of the period.
   */
  readonly nextPlan?: NextPlan | null;
  /** Negative to withdraw credit. */
  readonly addMicro?: Micro;
  /** Makes the change idempotent: within a day it is applied once per id, whichever process receives it. */
  readonly once?: ChangeOnce;
}

export interface ChangeOnce {
  /** Up to 100 letters and digits. */
  readonly id: string;
  /** Fingerprint of the request: a different request under the same id is rejected. */
  readonly request: string;
}

/** The id was used for a different request; nothing was changed. */
export interface OtherRequest {
  readonly kind: 'other_request';
}

/** The balance would not be a whole number up to 2^53 - 1; nothing was changed. */
export interface BalanceOutOfBounds {
  readonly kind: 'balance_out_of_bounds';
}

/** The balance would fall below what open reservations hold; nothing was changed. */
export interface CreditNotFree {
  readonly kind: 'credit_not_free';
  /** The credit that can be withdrawn: the balance less what is held. */
  readonly freeMicro: Micro;
}

export interface NewKey {
  /** ULID. */
  readonly keyId: string;
  readonly teamId: string;
  readonly digest: KeyDigest;
  /** The key's first twelve characters. */
  readonly display: string;
  readonly label: string;
  readonly mode: KeyMode;
  /** By default none. */
  readonly limits?: KeyLimits;
}

/** `revoked` is final; a `disabled` key can be enabled again, an `expired` one can be extended. */
export type KeyStatus = 'active' | 'revoked' | 'disabled' | 'expired';

export interface KeyRecord extends Omit<NewKey, 'digest' | 'limits'> {
  /** By the store's clock at the time of reading. If several apply, the first of `revoked`, `disabled`, `expired`. */
  readonly status: KeyStatus;
  readonly limits: KeyLimits;
  readonly createdAtMs: number;
  /** `undefined` if the key was never used. */
  readonly lastUsedAtMs: number | undefined;
}

/** Absent members stay unchanged. */
export interface KeyChange {
  readonly label?: string;
  readonly disabled?: boolean;
  /** `null` removes a limit. */
  readonly limits?: KeyLimitChange;
}

/** How to look up a key: by its digest, or by its first twelve characters, which several keys may share. */
export type KeySearch = { readonly digest: KeyDigest } | { readonly display: string };

export interface FoundKey extends KeyRecord {
  readonly teamName: string;
}

/** Settled counts of the current period, without open reservations. */
export interface Usage extends UsageFigures {
  readonly team: Team;
  /** Every key of the team, including unused and revoked ones, in order of creation. */
  readonly keys: readonly KeyUsage[];
}

export interface KeyUsage extends KeyRecord {
  readonly characters: number;
  /** Successful translations in the period. */
  readonly requests: number;
  /** As of the team. */
  readonly windows?: readonly WindowUse[];
}

/** A team as it appears in a list of teams. Counts are settled ones; reading them changes nothing. */
export interface TeamSummary {
  readonly team: Team;
  /** In the current period. */
  readonly characters: number;
  /** Of these, what test keys used of the plan's allowance. */
  readonly allowanceUsed: number;
  /** Keys whose status is `active`. */
  readonly activeKeys: number;
  /** The latest use of any of its keys, including revoked ones; `undefined` if none was ever used. */
  readonly lastUsedAtMs: number | undefined;
  /** The active key that has been unused for longest; `undefined` without an active key. */
  readonly idlestKey:
    | { readonly keyId: string; /** Its last use, or its creation if it was never used. */ readonly sinceMs: number }
    | undefined;
}

/** A team's current counts, for checking invariants. Reservations whose lease has ended are excluded. */
export interface Standing {
  /** In the current period, including what is used and held of the allowance for test keys. */
  readonly usedCharacters: number;
  readonly heldCharacters: number;
  readonly allowanceUsed: number;
  readonly allowanceHeld: number;
  readonly balanceMicro: Micro;
  readonly heldMicro: Micro;
  readonly openReservations: number;
}

export interface TeamDeletion {
  /** Days and periods stay, without names, labels and key displays; everything else is deleted. */
  readonly keepUsage: boolean;
}

/**
 * Methods return `undefined` if the team or key does not exist. If a change returns `unavailable`, it may or may not have been
 * made. The audit log records `by`, and what was changed, in the same operation as the change.
 *
 * A different period length begins a new period at once, from which later ones are counted; earlier usage stays with the period
 * that it closes. If only the anchor of the rule changes (`sameLength`), the current period ends when it would have, and the next
 * one begins there, whatever start `periodBy` computes for it.
 *
 * The first step of a deletion is atomic: from then on the team does not exist, none of its keys is admitted anywhere, and the
 * characters held by its open reservations are never charged. Then all of its data is removed in pieces; the call returns when
 * nothing is left. After an interruption the store resumes automatically before long, or at once if the call is repeated.
 */
export interface TeamRegistry {
  /** If a team with this id already exists, returns it unchanged: a creation whose outcome is unknown may be repeated. */
  createTeam(team: NewTeam, by?: Audited): Promise<Team | StoreUnavailable>;
  /** In order of creation. */
  listTeams(): Promise<readonly Team[] | StoreUnavailable>;
  /** One page, in the same order. */
  pageTeams(page: TeamPage): Promise<readonly Team[] | StoreUnavailable>;
  /** The same page with the usage of its teams, in one store operation. */
  pageSummaries(page: TeamPage): Promise<readonly TeamSummary[] | StoreUnavailable>;
  findTeam(teamId: string): Promise<Team | undefined | StoreUnavailable>;
  /** Takes effect with the next admission. */
  updateTeam(
    teamId: string,
    change: TeamChange,
    by?: Audited,
  ): Promise<Team | undefined | BalanceOutOfBounds | CreditNotFree | OtherRequest | StoreUnavailable>;
  /** Returns whether there was a team to delete. Without `keepUsage` it also removes what an earlier deletion left. */
  deleteTeam(teamId: string, deletion: TeamDeletion, by?: Audited): Promise<boolean | StoreUnavailable>;
  /** The key works at once, on every node. */
  createKey(key: NewKey, by?: Audited): Promise<KeyRecord | undefined | StoreUnavailable>;
  /** In order of creation. */
  listKeys(teamId: string): Promise<readonly KeyRecord[] | undefined | StoreUnavailable>;
  /**
   * Changes what a key may do, on every node, from the next admission on. Existing usage and holds count, including what was
   * reserved before the key had a limit. A revoked key can be changed too, but stays revoked.
   */
  updateKey(keyId: string, change: KeyChange, by?: Audited): Promise<KeyRecord | undefined | StoreUnavailable>;
  /** Once this has returned the key's record, no later request with the key is admitted anywhere. */
  revokeKey(keyId: string, by?: Audited): Promise<KeyRecord | undefined | StoreUnavailable>;
  /**
   * Waits up to about a second for a replica to have the latest writes to these teams, and returns whether one has, so that a
   * failover cannot undo them. `undefined` if there is no replica.
   */
  replicated(teamIds: readonly string[]): Promise<boolean | undefined>;
  /** Includes revoked keys; an empty list if there are none. A search by `display` may scan all keys in batches. */
  findKeys(search: KeySearch): Promise<readonly FoundKey[] | StoreUnavailable>;
  usage(teamId: string): Promise<Usage | undefined | StoreUnavailable>;
  standing(teamId: string): Promise<Standing | undefined | StoreUnavailable>;
}
