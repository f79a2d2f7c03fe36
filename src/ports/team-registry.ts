// Teams and their keys, as operators handle them: create, change, list, revoke, report.
import type { KeyDigest, KeyMode } from '../domain/api-key.ts';
import type { KeyLimitChange, KeyLimits } from '../domain/key-limits.ts';
import type { Micro } from '../domain/money.ts';
import type { TeamLimits } from '../domain/plan.ts';
import type { StoreUnavailable } from '../domain/store-unavailable.ts';
import type { Audited } from '../domain/audit-entry.ts';

export interface NewTeam {
  /** ULID. */
  readonly teamId: string;
  readonly name: string;
  /** Name of the plan that `limits` were copied from. */
  readonly plan: string;
  readonly limits: TeamLimits;
  /** Starting credit; 0 with quota billing. */
  readonly balanceMicro: Micro;
}

export interface Team extends NewTeam {
  /** By the store's clock; what the team's periods are counted from, until their length is changed. */
  readonly createdAtMs: number;
}

/** Where a page of teams begins and what is on it. */
export interface TeamPage {
  /** The last team of the page before; `undefined` for the first page. */
  readonly after: string | undefined;
  /** At most so many. */
  readonly limit: number;
  /** Only teams whose name or id holds this text, whatever the case of its ASCII letters; `undefined` for all. */
  readonly search: string | undefined;
}

export interface TeamChange {
  readonly name?: string;
  readonly plan?: { readonly name: string; readonly limits: TeamLimits };
  /** Negative to take credit away. */
  readonly addMicro?: Micro;
  /** Given where the change may be a repetition: within a day it is made once under this id, whichever process is asked. */
  readonly once?: ChangeOnce;
}

export interface ChangeOnce {
  /** Of up to 100 letters and digits. */
  readonly id: string;
  /** What was asked for: another request under the same id is refused. */
  readonly request: string;
}

/** The id came with another request before; nothing was changed. */
export interface OtherRequest {
  readonly kind: 'other_request';
}

/** The balance would not be a whole number up to 2^53 - 1; nothing was changed. */
export interface BalanceOutOfBounds {
  readonly kind: 'balance_out_of_bounds';
}

/** The balance would be less than what open reservations hold; nothing was changed. */
export interface CreditNotFree {
  readonly kind: 'credit_not_free';
  /** What can be taken: the balance less what is held. */
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
  /** Without it, none. */
  readonly limits?: KeyLimits;
}

/** `revoked` is for ever; one that is `disabled` may be enabled, one that has `expired` may be given more time. */
export type KeyStatus = 'active' | 'revoked' | 'disabled' | 'expired';

export interface KeyRecord extends Omit<NewKey, 'digest' | 'limits'> {
  /** By the store's clock when it is read. Where several hold, the first of `revoked`, `disabled`, `expired`. */
  readonly status: KeyStatus;
  readonly limits: KeyLimits;
  readonly createdAtMs: number;
  /** `undefined` while the key was never used. */
  readonly lastUsedAtMs: number | undefined;
}

/** What is left out stays as it is. */
export interface KeyChange {
  readonly label?: string;
  readonly disabled?: boolean;
  /** A member that is `null` takes the limit away. */
  readonly limits?: KeyLimitChange;
}

/** How a key is looked for: by the whole of it, or by its first twelve characters, which several may share. */
export type KeySearch = { readonly digest: KeyDigest } | { readonly display: string };

export interface FoundKey extends KeyRecord {
  readonly teamName: string;
}

/** Settled counts of the current period; open reservations are not in them. */
export interface Usage {
  readonly team: Team;
  readonly periodStartMs: number;
  readonly periodEndMs: number;
  readonly characters: number;
  /** Every key of the team, unused and revoked ones included, in order of creation. */
  readonly keys: readonly KeyUsage[];
}

export interface KeyUsage extends KeyRecord {
  readonly characters: number;
  /** Successful translations of the period. */
  readonly requests: number;
}

/** A team as a list of teams shows it. Counts are settled ones; reading them changes nothing. */
export interface TeamSummary {
  readonly team: Team;
  /** Of the period that holds now. */
  readonly characters: number;
  /** Keys whose status is `active`. */
  readonly activeKeys: number;
  /** When any of its keys was used last, revoked ones included; `undefined` while none was. */
  readonly lastUsedAtMs: number | undefined;
  /** The active key that has gone unused for longest; `undefined` without an active key. */
  readonly idlestKey:
    | { readonly keyId: string; /** Its last use, or its creation where there was none. */ readonly sinceMs: number }
    | undefined;
}

/** A team's counts at this moment, for checking invariants. Reservations whose lease has ended are not in them. */
export interface Standing {
  readonly usedCharacters: number;
  readonly heldCharacters: number;
  readonly balanceMicro: Micro;
  readonly heldMicro: Micro;
  readonly openReservations: number;
}

export interface TeamDeletion {
  /** Days and periods stay, without names, labels and beginnings of keys; everything else goes. */
  readonly keepUsage: boolean;
}

/**
 * Where there is no such team or key, `undefined` is answered. `unavailable` to a change leaves open whether it was made. A
 * store with an audit keeps what a change is given as `by`, and what it changed, in the operation that makes it.
 */
export interface TeamRegistry {
  /** If a team has this id already, it is answered as it is: a creation whose outcome is unknown may be repeated. */
  createTeam(team: NewTeam, by?: Audited): Promise<Team | StoreUnavailable>;
  /** In order of creation. */
  listTeams(): Promise<readonly Team[] | StoreUnavailable>;
  /** A page of them, in the same order. */
  pageTeams(page: TeamPage): Promise<readonly Team[] | StoreUnavailable>;
  /** The same page with what its teams have used, in one question to the store. */
  pageSummaries(page: TeamPage): Promise<readonly TeamSummary[] | StoreUnavailable>;
  findTeam(teamId: string): Promise<Team | undefined | StoreUnavailable>;
  /**
   * Holds from the next admission on. With another period length a period begins at this moment, from which the next ones are
   * counted: what was used before stays with the period that it closes. Where only the anchor of the rule changes (`sameLength`),
   * the running period ends when it would have, and the next one begins there, whatever its own beginning by `periodBy` was.
   */
  updateTeam(
    teamId: string,
    change: TeamChange,
    by?: Audited,
  ): Promise<Team | undefined | BalanceOutOfBounds | CreditNotFree | OtherRequest | StoreUnavailable>;
  /**
   * Whether there was a team to delete. With its first step, which is atomic, there is no team of this id any more: no key of it
   * is admitted anywhere, and what its open reservations held is charged to nobody. Then everything that it has is removed, a
   * piece at a time; answered when nothing is left. Where that was interrupted the store goes on by itself before long, or at once
   * when it is repeated. Without `keepUsage` it also removes what an earlier deletion has kept. Left out by stores that cannot.
   */
  deleteTeam?(teamId: string, deletion: TeamDeletion, by?: Audited): Promise<boolean | StoreUnavailable>;
  /** The key works at once, on every node. */
  createKey(key: NewKey, by?: Audited): Promise<KeyRecord | undefined | StoreUnavailable>;
  /** In order of creation. */
  listKeys(teamId: string): Promise<readonly KeyRecord[] | undefined | StoreUnavailable>;
  /**
   * Changes what a key may do, from the next admission on, everywhere. What was used and is held counts: also what was reserved
   * before the key had a limit. Of a key that is revoked all can be changed but that. Left out by stores that cannot.
   */
  updateKey?(keyId: string, change: KeyChange, by?: Audited): Promise<KeyRecord | undefined | StoreUnavailable>;
  /** Once this answers with the key's record, no later request with the key is admitted anywhere. */
  revokeKey(keyId: string, by?: Audited): Promise<KeyRecord | undefined | StoreUnavailable>;
  /**
   * Whether another server has what was written to these teams, so that a failover cannot undo it: waits for it for about a
   * second. `undefined` where there is none to wait for. Left out by stores that are never copied.
   */
  replicated?(teamIds: readonly string[]): Promise<boolean | undefined>;
  /** Revoked ones too; none is an empty list. By `display` all keys may be gone through, in pieces. */
  findKeys(search: KeySearch): Promise<readonly FoundKey[] | StoreUnavailable>;
  usage(teamId: string): Promise<Usage | undefined | StoreUnavailable>;
  standing(teamId: string): Promise<Standing | undefined | StoreUnavailable>;
}
