// Turns the result of an operation into the admin API's answer: a problem, or the value with its audit members.
import type { Refusal } from '../core/outcome.ts';
import { placeOf } from '../core/error-place.ts';
import { problems, refuse, refuseAs } from '../core/problem.ts';
import type { StoreUnavailable } from '../domain/store-unavailable.ts';
import type { Log } from '../ports/log.ts';
import { resultMembers } from './admin-result.ts';
import { dearerText, minorText } from './dearer-text.ts';
import type { AdminRefusal, AdminResult } from './admin-result.ts';
import { detailOf } from './input.ts';
import type { OperationRefusal } from './operation.ts';
import type { Download } from './csv.ts';
import type { QueryFault } from './team-filter.ts';

/** For an operator with the role `read`. */
export const MAY_ONLY_READ = refuse('forbidden', 'Your role is read: you can see everything, but change nothing.');

export const NO_TEAM = refuse('not_found', 'There is no team with this id.');
export const NO_KEY = refuse('not_found', 'There is no key with this id.');

export const WRONG_TOKEN = refuse('unauthorized', 'The admin API needs "Authorization: Bearer TOKEN" with a token from the configuration.');
export const WAIT = refuse('rate_limited', 'Too many wrong tokens from this address; wait a minute.', { limit: 10 }, [
  ['Retry-After', '60'],
]);
const KEY_OF_ANOTHER = refuse('validation_error', 'Idempotency-Key: was already used for another request; use a new one.');

export const STILL_RUNNING = refuse(
  'service_unavailable',
  'Idempotency-Key: the first request with it has not ended yet; repeat yours in a few seconds.',
);

/** Logs an error that was thrown, and answers nothing of it. */
export function bugRefusal(log: Log, requestId: string, where: string, error: unknown): Refusal {
  log.error('a bug', { request_id: requestId, where, reason: placeOf(error) });
  return refuse('internal_error', 'Something unexpected failed on our side.');
}

type Refused = AdminRefusal | StoreUnavailable;
/** Refusals whose answers name something. */
type Detailed = 'dearer' | 'no_such_plan' | 'plan_takes_no_credit' | 'balance_too_large' | 'credit_not_free';

const REFUSALS: Readonly<Record<Exclude<Refused['kind'], Detailed>, Refusal>> = {
  unavailable: refuse('service_unavailable', 'The store is unreachable; try again in a few seconds.'),
  no_such_team: NO_TEAM,
  other_request: KEY_OF_ANOTHER,
  reason_missing: refuse('validation_error', 'reason: is required to deduct credit.'),
};

/** `planIn` is where the request named the plan: an unknown plan in the path is a path that does not exist. */
export function refusalOf(refusal: Refused, planIn: 'body' | 'path' = 'body'): Refusal {
  if (refusal.kind === 'plan_takes_no_credit')
    return refuse('validation_error', `plan: ${refusal.plan} has billing quota, which takes no credit.`);
  if (refusal.kind === 'balance_too_large')
    return refuse('validation_error', `add_credit_minor: the balance would exceed ${refusal.maxMinor} minor units; add less.`);
  if (refusal.kind === 'credit_not_free') {
    const most = `at most ${refusal.freeMinor} minor units can be deducted`;
    return refuse('validation_error', `add_credit_minor: ${most}: ${freeCreditWords(refusal)}.`);
  }
  if (refusal.kind === 'dearer') return dearerRefusal(refusal);
  if (refusal.kind !== 'no_such_plan') return REFUSALS[refusal.kind];
  const known = refusal.plans.join(', ');
  return planIn === 'path'
    ? refuse('not_found', `There is no such plan; the plans are ${known}.`)
    : refuse('validation_error', `plan: there is no such plan; the plans are ${known}.`);
}

function dearerRefusal({ dearer, currency }: Extract<AdminRefusal, { kind: 'dearer' }>): Refusal {
  const detail = `confirm: this ${dearerText(dearer, minorText(currency))}; send "confirm": true to change it anyway, or "when": "next-period".`;
  return refuseAs('validation_error', problems.validation_error, detail, { dearer: { ...dearer } });
}

/** Of an operation that was not carried out. */
export function refusalOfOperation(refusal: OperationRefusal | StoreUnavailable): Refusal {
  return refusal.kind === 'unavailable' ? REFUSALS.unavailable : refuse(refusal.code, detailOf(refusal));
}

/** What the credit that can be deducted is. */
export function freeCreditWords({ isHeld }: { readonly isHeld: boolean }): string {
  return isHeld ? 'open reservations hold the rest' : 'the whole balance';
}

/** A value to answer, with the members that its audit line adds; a file; or a refusal. */
export type Handled = { readonly value: unknown; readonly audit?: Readonly<Record<string, string | number>> } | Download | Refusal;

/** `planIn` as in `refusalOf`. */
export function done<T>(result: AdminResult<T>, handled: (value: T) => Handled, planIn?: 'body' | 'path'): Handled {
  if (result.kind !== 'done') return refusalOf(result, planIn);
  const made = handled(result.value);
  // Values are objects.
  return 'value' in made ? { ...made, value: { ...(made.value as object), ...resultMembers(result) } } : made;
}

export function refusalOfFault({ field, fault }: QueryFault): Refusal {
  return refuse('validation_error', `${field}: ${fault}.`);
}
