// Turns the result of an operation into the admin API's answer: a problem, or the value with its audit members.
import type { Refusal } from '../core/outcome.ts';
import { refuse } from '../core/problem.ts';
import type { StoreUnavailable } from '../domain/store-unavailable.ts';
import { replicatedMember } from './admin-result.ts';
import type { AdminRefusal, AdminResult } from './admin-result.ts';
import type { Download } from './usage-csv.ts';
import type { QueryFault } from './usage-question.ts';

/** For an operator with the role `read`. */
export const MAY_ONLY_READ = refuse('forbidden', 'Your role is read: you can see everything, but change nothing.');

export const NO_TEAM = refuse('not_found', 'There is no team with this id.');
export const NO_GLOSSARY = refuse('not_found', 'There is no glossary with this id.');
const NO_DELETION = refuse('not_found', "The gateway's store, from a plugin, cannot delete it: delete it in the store itself.");
const NO_KEY_LIMITS = refuse(
  'validation_error',
  "The gateway's store, from a plugin, does not support limits of keys and cannot disable keys.",
);
export const NO_KEY = refuse('not_found', 'There is no key with this id.');
const NO_HISTORY = refuse('not_found', "The gateway's store, from a plugin, does not keep usage by day and period.");

export const WRONG_TOKEN = refuse('unauthorized', 'The admin API needs "Authorization: Bearer TOKEN" with a token from the configuration.');
export const WAIT = refuse('rate_limited', 'Too many wrong tokens from this address; wait a minute.', { limit: 10 }, [
  ['Retry-After', '60'],
]);
export const KEY_OF_ANOTHER = refuse('validation_error', 'Idempotency-Key: was already used for another request; use a new one.');
const STORE_AWAY = refuse('service_unavailable', 'The store is unreachable; try again in a few seconds.');

/** `planIn` is where the request named the plan: an unknown plan in the path is a path that does not exist. */
export function refusalOf(refusal: AdminRefusal | StoreUnavailable, planIn: 'body' | 'path' = 'body'): Refusal {
  switch (refusal.kind) {
    case 'unavailable':
      return STORE_AWAY;
    case 'no_such_team':
      return NO_TEAM;
    case 'no_such_key':
      return NO_KEY;
    case 'no_history':
      return NO_HISTORY;
    case 'no_such_glossary':
      return NO_GLOSSARY;
    case 'no_deletion':
      return NO_DELETION;
    case 'no_key_limits':
      return NO_KEY_LIMITS;
    case 'no_such_plan':
      return planIn === 'path'
        ? refuse('not_found', `There is no such plan; the plans are ${refusal.plans.join(', ')}.`)
        : refuse('validation_error', `plan: there is no such plan; the plans are ${refusal.plans.join(', ')}.`);
    case 'plan_takes_no_credit':
      return refuse('validation_error', `plan: ${refusal.plan} has billing quota, which takes no credit.`);
    case 'other_request':
      return KEY_OF_ANOTHER;
    case 'balance_too_large':
      return refuse('validation_error', `add_credit_minor: the balance would exceed ${refusal.maxMinor} minor units; add less.`);
    case 'credit_not_free':
      return refuse(
        'validation_error',
        `add_credit_minor: at most ${refusal.freeMinor} minor units can be deducted; open reservations hold the rest.`,
      );
    case 'reason_missing':
      return refuse('validation_error', 'reason: is required to deduct credit.');
    case 'no_audit':
      return refuse('not_found', "The gateway's store, from a plugin, keeps no audit.");
  }
}

/** A value to answer, with the members that its audit line adds; a file; or a refusal. */
export type Handled = { readonly value: unknown; readonly audit?: Readonly<Record<string, string | number>> } | Download | Refusal;

/** `planIn` as in `refusalOf`. */
export function done<T>(result: AdminResult<T>, handled: (value: T) => Handled, planIn?: 'body' | 'path'): Handled {
  if (result.kind !== 'done') return refusalOf(result, planIn);
  const made = handled(result.value);
  // Values are objects.
  return 'value' in made ? { ...made, value: { ...(made.value as object), ...replicatedMember(result) } } : made;
}

/** A team that a query names is not part of the path, so it is not a 404. */
export function refusalOfQuery(refusal: AdminRefusal | StoreUnavailable): Refusal {
  return refusal.kind === 'no_such_team' ? refusalOfFault({ field: 'team', fault: 'there is no team with this id' }) : refusalOf(refusal);
}

export function refusalOfFault({ field, fault }: QueryFault): Refusal {
  return refuse('validation_error', `${field}: ${fault}.`);
}
