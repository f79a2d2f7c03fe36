// The result of an operation: its value, a reason why it cannot be done, or `unavailable`.
import { isUnavailable } from '../domain/store-unavailable.ts';
import type { StoreUnavailable } from '../domain/store-unavailable.ts';
import type { TeamPage } from '../ports/team-registry.ts';

/** Why an operation cannot be done. Command line, admin API and console each word it themselves. */
export type AdminRefusal =
  | { readonly kind: 'no_such_team'; readonly teamId: string }
  | { readonly kind: 'no_such_key'; readonly keyId: string }
  | { readonly kind: 'no_such_glossary'; readonly glossaryId: string }
  /** The store, a plugin's, cannot delete teams; or cannot tell whose a glossary is. */
  | { readonly kind: 'no_deletion' }
  /** The store, a plugin's, cannot change keys and knows nothing of their limits. */
  | { readonly kind: 'no_key_limits' }
  | { readonly kind: 'no_such_plan'; readonly plan: string; readonly plans: readonly string[] }
  /** Credit for a team whose plan has billing quota. */
  | { readonly kind: 'plan_takes_no_credit'; readonly plan: string }
  /** The store keeps no days and periods. */
  | { readonly kind: 'no_history' }
  /** Under an id under which something else was done before. */
  | { readonly kind: 'other_request' }
  /** The balance would pass what a team can have. */
  | { readonly kind: 'balance_too_large'; readonly maxMinor: number }
  /** More credit is to be taken than there is beside what open reservations hold. */
  | { readonly kind: 'credit_not_free'; readonly freeMinor: number }
  /** Credit is to be taken, and nobody says why. */
  | { readonly kind: 'reason_missing' }
  /** The store is a plugin's that keeps none. */
  | { readonly kind: 'no_audit' };

export interface Done<T> {
  readonly kind: 'done';
  readonly value: T;
  /**
   * Of what revokes, disables or limits a key, or moves money: whether a replica of the store has it. `false`: it holds now, and a failover may
   * undo it. `undefined` where the store has no replicas, and of all other operations.
   */
  readonly replicated?: boolean | undefined;
}

/** For `--json` and the admin API: the member that a result adds to what it tells. */
export function replicatedMember(result: AdminResult<unknown>): { readonly replicated?: boolean } {
  return result.kind !== 'done' || result.replicated === undefined ? {} : { replicated: result.replicated };
}

const NOT_REPLICATED =
  'It holds now, but no replica of the store has confirmed it within a second: a failover may undo it. See to the replicas, and after a failover look whether it still holds.';

/** For people: the warning where no replica has it. */
export function replicatedWarning(result: AdminResult<unknown>): string | undefined {
  return replicatedMember(result).replicated === false ? NOT_REPLICATED : undefined;
}

export type AdminResult<T> = Done<T> | AdminRefusal | StoreUnavailable;

export interface TeamList<Listed> {
  readonly teams: readonly Listed[];
  /** Where the next page begins, if there is one. */
  readonly next: string | undefined;
}

export function done<T>(value: T, replicated?: boolean): Done<T> {
  return { kind: 'done', value, replicated };
}

/** Asks for one team more than is shown, which tells whether there is a next page. */
export function oneMore(page: TeamPage): TeamPage {
  return { ...page, limit: page.limit + 1 };
}

/** A page of what was asked for by `oneMore`. */
export function cut<T>(found: readonly T[] | StoreUnavailable, { limit }: TeamPage, idOf: (listed: T) => string): AdminResult<TeamList<T>> {
  if (isUnavailable(found)) return found;
  const teams = found.slice(0, limit);
  const last = teams.at(-1);
  return done({ teams, next: last !== undefined && found.length > limit ? idOf(last) : undefined });
}

/** What the registry has answered for a team. */
export function ofTeam<T extends object>(teamId: string, found: T | undefined | StoreUnavailable): AdminResult<T> {
  if (found === undefined) return { kind: 'no_such_team', teamId };
  return isUnavailable(found) ? found : done(found);
}
