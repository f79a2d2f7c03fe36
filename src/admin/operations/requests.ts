// The latest requests of a gateway that were refused or met a failure, each with its reason: "why
// did this customer get a 503?".
import type { Static } from 'typebox';
import { ONLY_ENGINE } from '../../domain/engine-routing.ts';
import { DAY_MS, dayOf, rfc3339 } from '../../domain/period.ts';
import { RECORD_NAME_CHARACTERS_MAX } from '../../domain/record-name.ts';
import { Type } from '../../domain/typebox.ts';
import { canonicalUlid } from '../../domain/ulid.ts';
import { dateOf } from '../../domain/usage-days.ts';
import type { RecentRequest } from '../../ports/access-entry.ts';
import { moment, ofTeam, text, whole } from '../fields.ts';
import { operation } from '../operation.ts';
import type { RowColumn } from '../operation.ts';

const Request = Type.Object({
  request_id: Type.String({ description: "The answer's `X-Request-Id`." }),
  at: moment,
  team_id: Type.Union([Type.String(), Type.Null()]),
  key_id: Type.Union([Type.String(), Type.Null()]),
  route: Type.String(),
  status: whole,
  code: Type.String({ description: 'The problem code, or `ok` for an answer that needed a second attempt.' }),
  failures: Type.Array(Type.String(), { description: 'Why attempts at the engine failed: `connect:refused`, `status:502`, `timeout`.' }),
  parameter: Type.Union([Type.String(), Type.Null()], { description: 'The parameter that a 400 is about.' }),
  engine: Type.Union([Type.String(), Type.Null()], { description: 'The engine that answered, or was tried last.' }),
  limit_of: Type.Union([Type.String(), Type.Null()], {
    description:
      'Whose limit refused it: `team`, `key`, `tag`, or `test_keys` for their free characters; with what it counts, such as `tag:day:characters`, for limits by minute to month.',
  }),
});
type RequestRow = Static<typeof Request>;

const columns: readonly RowColumn<RequestRow>[] = [
  { head: 'When (UTC)', cell: (row) => ({ kind: 'moment', at: row.at }) },
  { head: 'Team', cell: (row) => (row.team_id === null ? undefined : { kind: 'team', id: row.team_id }), holds: 'text', only: 'console' },
  { head: 'Route', cell: (row) => ({ kind: 'path', text: row.route }), holds: 'text' },
  { head: 'Status', cell: (row) => String(row.status), holds: 'figures' },
  { head: 'Code', cell: ({ code }) => ({ kind: 'problem', code }) },
  { head: 'Reason', cell: reasonOf },
  { head: 'Team', cell: (row) => row.team_id ?? undefined, only: 'command' },
  { head: 'Request id', cell: (row) => ({ kind: 'code', text: row.request_id }), holds: 'text' },
];

/** What the request's log line says of it, in a few words. */
function reasonOf({ failures, engine, parameter, limit_of: limitOf }: RequestRow): string | undefined {
  if (failures.length > 0) return `${failures.join(', then ')}${engine === null || engine === ONLY_ENGINE ? '' : ` at ${engine}`}`;
  if (limitOf !== null) return `the ${limitOf}'s limit`;
  return parameter ?? undefined;
}

/** A UTC day, or a moment of RFC 3339; seconds may be left out. */
const SINCE = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:\d\d))?$/;
const TIME_OF_DAY = /^(?:[01]\d|2[0-3]):[0-5]\d$/;

/** A time of day is the latest one that is not in the future. */
function momentOf(since: string, nowMs: number): string {
  if (!TIME_OF_DAY.test(since)) return since;
  const atMs = Date.parse(`${dateOf(dayOf(nowMs))}T${since}Z`);
  return rfc3339(atMs > nowMs ? atMs - DAY_MS : atMs);
}

export const listRequests = operation({
  id: 'listRequests',
  command: 'requests',
  http: 'GET /requests',
  summary: 'Lists the latest requests that were refused or met a failure, newest first. Each process keeps 1,000 of each in memory.',
  about:
    'It asks the running gateway, with an admin token of the configuration, or LINGATE_ADMIN_TOKEN if that has none. The log has every request.',
  examples: [
    'lingate requests --team Example --status 503 --since 14:00',
    'lingate requests --request-id 01JD3Q7V6Y8Z0XKQ4T5N2M9HRC --json',
  ],
  input: {
    team: ofTeam('requests', {
      label: 'Team: name, reference or id',
      matching: true,
      flagWords: ['only requests of this team: its name, reference or id'],
      attributes: { maxlength: RECORD_NAME_CHARACTERS_MAX },
    }),
    status: Type.Integer({
      minimum: 100,
      maximum: 599,
      description: 'Only those with this HTTP status, for example 503.',
      given: { value: 'N', attributes: { maxlength: 3, inputmode: 'numeric', placeholder: '503' } },
    }),
    code: text(
      'a problem code, for example rate_limited',
      (code) => /^[a-z][a-z0-9_]{0,63}$/.test(code),
      'Only those with this problem code.',
      { value: 'CODE' },
    ),
    since: text(
      'a UTC day, a moment of RFC 3339 or a time of the last 24 hours, for example 2026-11-22, 2026-11-22T14:00:00Z or 14:00',
      (since) => SINCE.test(since) && !Number.isNaN(Date.parse(since)),
      'Only those since this moment, UTC day or time of the last 24 hours: 2026-11-22T14:00:00Z, 2026-11-22 or 14:00.',
      {
        value: 'TIME',
        label: 'Since (UTC)',
        fallback: 'all that are stored',
        fromText: momentOf,
        attributes: { maxlength: 35, placeholder: '14:00' },
      },
    ),
    request_id: text("an answer's X-Request-Id", (id) => canonicalUlid(id) === id, "Only the one with this id, an answer's X-Request-Id.", {
      value: 'ID',
      fromText: (id) => canonicalUlid(id) ?? id,
      attributes: { maxlength: 26 },
    }),
  },
  row: Request,
  list: 'requests',
  columns,
  none: 'There are no such requests among those that the gateway remembers.',
  ofGateway: true,
  listing: {
    newestFirst: true,
    async *read(context, { team, status, code, since, request_id: requestId }, after) {
      const sinceMs = since === undefined ? 0 : Date.parse(since);
      const fits = (one: RecentRequest): boolean =>
        (team === undefined || one.teamId === team) &&
        (status === undefined || one.status === status) &&
        (code === undefined || one.code === code) &&
        (requestId === undefined || one.requestId === requestId) &&
        one.atMs >= sinceMs &&
        (after === undefined || one.requestId < (after as string));
      const found = (await context.part('recentRequests')()).filter(fits);
      yield { entries: found.map((one) => ({ row: rowOf(one), at: one.requestId })), end: undefined, checked: 0 };
    },
  },
});

function rowOf(one: RecentRequest): RequestRow {
  return {
    request_id: one.requestId,
    at: rfc3339(one.atMs),
    team_id: one.teamId ?? null,
    key_id: one.keyId ?? null,
    route: one.route,
    status: one.status,
    code: one.code,
    failures: [...(one.failures ?? [])],
    parameter: one.parameter ?? null,
    engine: one.engine ?? null,
    limit_of: one.limitOf ?? null,
  };
}

export const operations = [listRequests];
