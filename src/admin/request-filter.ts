// Which of the latest refused and failed requests an operator asks for, and a page of them.
import type { Static } from 'typebox';
import { ONLY_ENGINE } from '../domain/engine-routing.ts';
import { DAY_MS, dayOf, rfc3339 } from '../domain/period.ts';
import { canonicalUlid } from '../domain/ulid.ts';
import { dateOf } from '../domain/usage-days.ts';
import type { RecentRequest } from '../ports/access-entry.ts';
import type { RecentRequestAnswer } from './admin-schemas.ts';
import type { QueryFault } from './usage-question.ts';

/** What is asked for; `undefined` members do not matter. */
interface RequestFilter {
  readonly teamId: string | undefined;
  readonly status: number | undefined;
  readonly code: string | undefined;
  /** By the wall clock. */
  readonly sinceMs: number | undefined;
  readonly requestId: string | undefined;
}

const STATUS = /^[1-5]\d\d$/;
const CODE = /^[a-z][a-z0-9_]{0,63}$/;
/** A UTC day, or a moment of RFC 3339; seconds may be left out. */
const SINCE = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:\d\d))?$/;
const TIME_OF_DAY = /^(?:[01]\d|2[0-3]):[0-5]\d$/;
const SINCE_FAULT =
  'must be a UTC day, a moment of RFC 3339 or a time of the last 24 hours, for example 2026-11-22, 2026-11-22T14:00:00Z or 14:00';

/** Empty parameters, as a form sends them, count as absent. */
export function readRequestFilter(query: URLSearchParams, nowMs: number): RequestFilter | QueryFault {
  const given = (name: string): string | undefined => query.get(name)?.trim() || undefined;
  const [team, status, code, since, request] = ['team', 'status', 'code', 'since', 'request_id'].map(given);
  const teamId = team === undefined ? undefined : canonicalUlid(team);
  if (team !== undefined && teamId === undefined) return { field: 'team', fault: "must be a team's id" };
  if (status !== undefined && !STATUS.test(status)) return { field: 'status', fault: 'must be an HTTP status, for example 503' };
  if (code !== undefined && !CODE.test(code)) return { field: 'code', fault: 'must be a problem code, for example rate_limited' };
  const sinceMs = since === undefined ? undefined : momentOf(since, nowMs);
  if (Number.isNaN(sinceMs)) return { field: 'since', fault: SINCE_FAULT };
  const requestId = request === undefined ? undefined : canonicalUlid(request);
  if (request !== undefined && requestId === undefined) return { field: 'request_id', fault: "must be an answer's X-Request-Id" };
  return {
    teamId,
    status: status === undefined ? undefined : Number(status),
    code,
    sinceMs,
    requestId,
  };
}

/** A time of day is the latest one that is not in the future; `NaN` for what is no time. */
function momentOf(since: string, nowMs: number): number {
  if (!TIME_OF_DAY.test(since)) return SINCE.test(since) ? Date.parse(since) : Number.NaN;
  const today = dateOf(dayOf(nowMs));
  const atMs = Date.parse(`${today}T${since}Z`);
  return atMs > nowMs ? atMs - DAY_MS : atMs;
}

/** A page of those that fit; `after` is the request id at which the previous one ended. `requests` are newest first. */
export function recentPage(
  requests: readonly RecentRequest[],
  { teamId, status, code, sinceMs, requestId }: RequestFilter,
  { after, limit }: { readonly after: string | undefined; readonly limit: number },
): { readonly items: readonly RecentRequest[]; readonly next: string | undefined } {
  const fits = (one: RecentRequest): boolean =>
    (teamId === undefined || one.teamId === teamId) &&
    (status === undefined || one.status === status) &&
    (code === undefined || one.code === code) &&
    (sinceMs === undefined || one.atMs >= sinceMs) &&
    (requestId === undefined || one.requestId === requestId) &&
    (after === undefined || one.requestId < after);
  const found = requests.filter(fits);
  const items = found.slice(0, limit);
  return { items, next: found.length > limit ? items.at(-1)?.requestId : undefined };
}

export function recentRequestReport(request: RecentRequest): Static<typeof RecentRequestAnswer> {
  const { requestId, atMs, teamId, keyId, route, status, code, failures = [], parameter, engine, limitOf } = request;
  return {
    request_id: requestId,
    at: rfc3339(atMs),
    team_id: teamId ?? null,
    key_id: keyId ?? null,
    route,
    status,
    code,
    failures: [...failures],
    parameter: parameter ?? null,
    engine: engine ?? null,
    limit_of: limitOf ?? null,
  };
}

/** What explains a request, as it is kept or reported. */
type Reasons = Pick<RecentRequest, 'failures' | 'engine' | 'parameter'> & { readonly limitOf: string | undefined };

/** Why, in a few words: what the request's log line says of it. */
export function reasonOf({ failures, engine, parameter, limitOf }: Reasons): string {
  if (failures !== undefined) return `${failures.join(', then ')}${engine === undefined || engine === ONLY_ENGINE ? '' : ` at ${engine}`}`;
  if (limitOf !== undefined) return `the ${limitOf}'s limit`;
  return parameter ?? '–';
}
