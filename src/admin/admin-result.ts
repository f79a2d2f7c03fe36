// The result of an operation: its value, a reason why it cannot be done, or `unavailable`.
import { isUnavailable } from '../domain/store-unavailable.ts';
import type { Dearer } from './dearer.ts';
import type { Result } from './operation.ts';
import type { StoreUnavailable } from '../domain/store-unavailable.ts';

/** Why an operation cannot be done. Command line, admin API and console each have their own wording. */
export type AdminRefusal =
  | { readonly kind: 'no_such_team'; readonly teamId: string }
  | { readonly kind: 'no_such_plan'; readonly plan: string; readonly plans: readonly string[] }
  /** Credit for a team whose plan has billing quota. */
  | { readonly kind: 'plan_takes_no_credit'; readonly plan: string }
  /** The id was used for another change before. */
  | { readonly kind: 'other_request' }
  /** The balance would exceed the most that a team can have. */
  | { readonly kind: 'balance_too_large'; readonly maxMinor: number }
  /** More credit would be deducted than is free of open reservations. */
  | {
      readonly kind: 'credit_not_free';
      readonly freeMinor: number;
      /** Whether the balance is more than that, because open reservations hold the rest. */
      readonly isHeld: boolean;
    }
  /** A change of plan would make running periods dearer, and this was not confirmed. */
  | { readonly kind: 'dearer'; readonly dearer: Dearer; readonly currency: string }
  /** Credit would be deducted without a reason. */
  | { readonly kind: 'reason_missing' };

interface Done<T> {
  readonly kind: 'done';
  readonly value: T;
  /**
   * For operations that revoke, disable or limit a key, or move money: whether a replica of the store has the change. `false`: it is in
   * effect, but a failover may undo it. `undefined` if the store has no replicas, and for all other operations.
   */
  readonly replicated?: boolean | undefined;
  /** What a change of plan has made dearer; absent if nothing. */
  readonly dearer?: Dearer;
  /** Sentences on what was done and may not be meant; absent if there is nothing. */
  readonly warnings?: readonly string[];
}

/** For `--json` and the admin API: the members that a result adds to the answer. */
export function resultMembers(result: AnyResult): Pick<Done<unknown>, 'replicated' | 'dearer' | 'warnings'> {
  if (result.kind !== 'done') return {};
  const { replicated, dearer, warnings }: Done<unknown> = result;
  return {
    ...(dearer === undefined ? {} : { dearer }),
    ...(replicated === undefined ? {} : { replicated }),
    ...(warnings === undefined ? {} : { warnings }),
  };
}

const NOT_REPLICATED =
  'It is in effect, but no replica of the store has confirmed it within a second: a failover may undo it. Check the replicas, and after a failover check whether it is still in effect.';

/** For people: the warning if no replica has it. */
export function replicatedWarning(result: AnyResult): string | undefined {
  return resultMembers(result).replicated === false ? NOT_REPLICATED : undefined;
}

/** What is reported of a change. */
export type AnyResult = AdminResult<unknown> | Result<unknown>;

export type AdminResult<T> = Done<T> | AdminRefusal | StoreUnavailable;

export interface Page<T> {
  readonly items: readonly T[];
  /** Where the next page begins, if there is one. */
  readonly next: string | undefined;
  /** For a filter, if the page ended because so many items were checked: it may have fewer than asked for, or none. */
  readonly checkedMax?: number;
}

export function done<T>(value: T, replicated?: boolean, warnings: readonly string[] = []): Done<T> {
  return { kind: 'done', value, replicated, ...(warnings.length === 0 ? {} : { warnings }) };
}

/** What the registry answered for a team. */
export function ofTeam<T extends object>(teamId: string, found: T | undefined | StoreUnavailable): AdminResult<T> {
  if (found === undefined) return { kind: 'no_such_team', teamId };
  return isUnavailable(found) ? found : done(found);
}
