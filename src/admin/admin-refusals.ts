// What the admin API and the console answer instead of a result: operations' refusals, their own.
import type { Refusal } from '../core/outcome.ts';
import { placeOf } from '../core/error-place.ts';
import { problems, refuse, refuseAs } from '../core/problem.ts';
import type { ProblemMembers } from '../core/problem.ts';
import { StoreError } from '../domain/store-unavailable.ts';
import type { StoreUnavailable } from '../domain/store-unavailable.ts';
import type { Log } from '../ports/log.ts';
import { detailOf } from './input.ts';
import { RefusedError } from './operation.ts';
import type { OperationRefusal } from './operation.ts';

/** For an operator with the role `read`. */
export const MAY_ONLY_READ = refuse('forbidden', 'Your role is read: you can see everything, but change nothing.');

export const WRONG_TOKEN = refuse('unauthorized', 'The admin API needs "Authorization: Bearer TOKEN" with a token from the configuration.');
export const WAIT = refuse('rate_limited', 'Too many wrong tokens from this address; wait a minute.', { limit: 10 }, [
  ['Retry-After', '60'],
]);
export const STILL_RUNNING = refuse(
  'service_unavailable',
  'Idempotency-Key: the first request with it has not ended yet; repeat yours in a few seconds.',
);

const AWAY = refuse('service_unavailable', 'The store is unreachable; try again in a few seconds.');

/** For what was thrown. What nobody expects is logged, and nothing of it is answered. */
export function refusalBy(error: unknown, log: Log, requestId: string, where: string): Refusal {
  if (error instanceof RefusedError) return refusalOf(error.refusal);
  if (error instanceof StoreError) return AWAY;
  log.error('a bug', { request_id: requestId, where, reason: placeOf(error) });
  return refuse('internal_error', 'Something unexpected failed on our side.');
}

/** Of an operation that was not carried out. */
export function refusalOf(refusal: OperationRefusal | StoreUnavailable): Refusal {
  if (refusal.kind === 'unavailable') return AWAY;
  const { code, members } = refusal;
  return members === undefined
    ? refuse(code, detailOf(refusal))
    : refuseAs(code, problems[code], detailOf(refusal), members as ProblemMembers);
}
