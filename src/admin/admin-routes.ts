// The admin API as a table: method, path, what it takes, what it answers. Handlers and the OpenAPI document come from it.
import type { TObject, TSchema } from 'typebox';
import { MINOR_MAX } from '../domain/money.ts';
import { REASON_CHARACTERS_MAX } from '../domain/reason.ts';
import { RECORD_NAME_CHARACTERS_MAX } from '../domain/record-name.ts';
import { Type } from '../domain/schema-type.ts';

export const ADMIN_PREFIX = '/admin/v1';

const closed = { additionalProperties: false } as const;
const name = (description: string) => Type.String({ minLength: 1, maxLength: RECORD_NAME_CHARACTERS_MAX, description });
const minor = (minimum: number, description: string) => Type.Integer({ minimum, maximum: MINOR_MAX, description });

const NewTeamBody = Type.Object(
  {
    name: name('What people call the team.'),
    plan: Type.String({ description: 'A plan of the configuration; its numbers are copied into the team.' }),
    credit_minor: Type.Optional(minor(0, 'Starting credit in minor units; only with a credit plan.')),
  },
  closed,
);

const TeamPatchBody = Type.Object(
  {
    name: Type.Optional(name('A new name.')),
    plan: Type.Optional(Type.String({ description: 'A plan of the configuration; holds from the next request on.' })),
    add_credit_minor: Type.Optional(
      minor(
        -MINOR_MAX,
        'Credit to add, in minor units; only with a credit plan. Negative to take credit, at most what open reservations leave; not 0.',
      ),
    ),
    reason: Type.Optional(
      Type.String({ maxLength: REASON_CHARACTERS_MAX, description: 'Why; kept in the audit. Required for credit that is taken.' }),
    ),
  },
  { ...closed, minProperties: 1 },
);

const NewKeyBody = Type.Object(
  {
    mode: Type.Enum(['live', 'test'], { type: 'string', description: 'Only a label: both modes behave alike.' }),
    label: Type.Optional(Type.String({ maxLength: RECORD_NAME_CHARACTERS_MAX, description: 'What the key is for.' })),
  },
  closed,
);

const replicated = Type.Optional(
  Type.Boolean({
    description:
      'Whether a replica of the store has it. `false`: it holds now, and a failover may undo it. Left out where the store has no replicas, and where nothing was revoked or paid.',
  }),
);
const KeySearchBody = Type.Object(
  {
    key: Type.Optional(
      Type.String({ description: 'A whole key: nothing of it is kept, logged or answered beyond its first twelve characters.' }),
    ),
    display: Type.Optional(Type.String({ description: 'The first twelve characters of a key; several keys may share them.' })),
  },
  { ...closed, description: 'One of the two.' },
);

const moment = Type.String({ format: 'date-time' });
const whole = Type.Integer({ minimum: 0 });

const TeamAnswer = Type.Object({
  team_id: Type.String({ description: 'A ULID.' }),
  name: Type.String(),
  plan: Type.String(),
  billing: Type.Enum(['quota', 'credit'], { type: 'string' }),
  requests_per_second: whole,
  max_characters_per_request: whole,
  max_glossaries: whole,
  characters: Type.Optional(whole),
  period: Type.Optional(Type.String({ description: 'An ISO 8601 duration.' })),
  period_anchor: Type.Optional(
    Type.Enum(['calendar'], {
      type: 'string',
      description: "Periods are days, ISO weeks, months or years of UTC, not counted from the team's creation.",
    }),
  ),
  overage_cap_minor: Type.Optional(whole),
  overage_minor_per_million: Type.Optional(whole),
  credit_minor_per_million: Type.Optional(whole),
  balance_minor: Type.Optional(whole),
  currency: Type.String({ description: 'ISO 4217.' }),
  created_at: moment,
});
const ChangedTeamAnswer = Type.Object({ ...TeamAnswer.properties, replicated });
const KeyAnswer = Type.Object({
  key_id: Type.String(),
  display: Type.String({ description: "The key's first twelve characters." }),
  label: Type.String(),
  mode: Type.Enum(['live', 'test'], { type: 'string' }),
  status: Type.Enum(['active', 'revoked'], { type: 'string' }),
  created_at: moment,
  last_used_at: Type.Union([moment, Type.Null()]),
});
const FoundKeyAnswer = Type.Object({
  key_id: Type.String(),
  display: Type.String({ description: "The key's first twelve characters." }),
  label: Type.String(),
  mode: Type.Enum(['live', 'test'], { type: 'string' }),
  status: Type.Enum(['active', 'revoked'], { type: 'string' }),
  team_id: Type.String(),
  team_name: Type.String(),
  last_used_at: Type.Union([moment, Type.Null()]),
});
const NewKeyAnswer = Type.Object({
  key_id: Type.String(),
  key: Type.String({ description: 'The whole key; shown this once.' }),
  display: Type.String(),
  mode: Type.Enum(['live', 'test'], { type: 'string' }),
  team_id: Type.String(),
});
const DictionaryAnswer = Type.Object({ source_lang: Type.String(), target_lang: Type.String(), entry_count: whole });
const GlossaryAnswer = Type.Object({
  glossary_id: Type.String(),
  name: Type.String(),
  source_lang: Type.Optional(Type.String({ description: 'Left out, as target_lang, of one that has not exactly one dictionary.' })),
  target_lang: Type.Optional(Type.String()),
  entry_count: Type.Integer({ minimum: 0, description: 'Of all dictionaries.' }),
  created_at: moment,
  dictionaries: Type.Array(DictionaryAnswer),
});
const numberValue = Type.Union([Type.String(), Type.Number(), Type.Null()]);
const PlanAppliedAnswer = Type.Object({
  plan: Type.String(),
  teams: Type.Integer({ minimum: 0, description: 'Teams on the plan.' }),
  changed: Type.Integer({ minimum: 0, description: 'Those of them that were held to other numbers.' }),
  changes: Type.Array(Type.Object({ number: Type.String(), from: numberValue, to: numberValue, teams: whole }), {
    description: 'Which numbers changed, from what to what, for how many teams; `null` where a billing has no such number.',
  }),
  replicated,
});
const changed = Type.Record(Type.String(), Type.Union([Type.String(), Type.Number()]));
const AuditAnswer = Type.Object({
  entries: Type.Array(
    Type.Object({
      at: moment,
      actor: Type.String({ description: '`cli:USER@HOST`, `admin:NAME@ADDRESS` or `console:NAME@ADDRESS`.' }),
      action: Type.String({ description: "As the admin API's operation is called." }),
      team_id: Type.Union([Type.String(), Type.Null()]),
      key_id: Type.Union([Type.String(), Type.Null()]),
      before: changed,
      after: Type.Record(Type.String(), Type.Union([Type.String(), Type.Number()]), {
        description: 'Like `before`, only members that changed, and the `reason`.',
      }),
    }),
  ),
  next: Type.Union([Type.String(), Type.Null()]),
});
const LiveAnswer = Type.Object({
  step_seconds: whole,
  points: Type.Array(
    Type.Object({
      at: moment,
      requests: Type.Record(Type.String(), whole, {
        description: 'By problem code, `ok` for answers, `client_closed` for callers who left.',
      }),
      p50_ms: Type.Union([Type.Number(), Type.Null()]),
      p99_ms: Type.Union([Type.Number(), Type.Null()]),
      characters: whole,
      engine_failures: Type.Integer({ minimum: 0, description: 'Attempts at the engine that gave nothing usable.' }),
      in_flight: Type.Integer({ minimum: 0, description: 'The highest of the step.' }),
    }),
  ),
});

const UsageRowAnswer = Type.Object({
  team_id: Type.String(),
  name: Type.String(),
  plan: Type.String({ description: "The team's plan now." }),
  date: Type.Union([Type.String(), Type.Null()], { description: 'A day as 2026-11-22, a month as 2026-11, or null with by=total.' }),
  character_count: whole,
  request_count: whole,
  key_id: Type.Optional(Type.String({ description: 'This and what follows: with keys=true only.' })),
  display: Type.Optional(Type.String({ description: "The key's first twelve characters." })),
  label: Type.Optional(Type.String()),
  mode: Type.Optional(Type.Enum(['live', 'test'], { type: 'string' })),
});
const PeriodAnswer = Type.Object({
  period_start: moment,
  period_end: moment,
  closed: Type.Boolean({ description: 'It has ended and nothing in it is open any more: it never changes again.' }),
  plan: Type.String({ description: 'The plan that held in it at last.' }),
  billing: Type.Enum(['quota', 'credit'], { type: 'string' }),
  character_count: whole,
  character_limit: Type.Optional(whole),
  overage: Type.Optional(
    Type.Object(
      { character_count: whole, cost_minor: whole, cap_minor: whole, currency: Type.String() },
      { description: 'With quota billing, as character_limit; as in GET /v1/usage.' },
    ),
  ),
});

export interface AdminRoute {
  /** `operationId`; handlers are found by it. */
  readonly id: AdminRouteId;
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** Below `/admin/v1`; `{id}` and `{name}` stand for one segment. */
  readonly path: string;
  readonly summary: string;
  readonly body?: TObject;
  readonly status: 200 | 201 | 204;
  /** Left out with 204. */
  readonly answer?: TSchema;
  /** Changes nothing although it is no GET: what it looks for must not stand in an address. */
  readonly looksOnly?: true;
  /** Query parameters and what they are. */
  readonly query?: Readonly<Record<string, string>>;
  /** What it answers instead of JSON where it is asked to. */
  readonly otherType?: string;
}

export type AdminRouteId =
  | 'listTeams'
  | 'createTeam'
  | 'showTeam'
  | 'updateTeam'
  | 'deleteTeam'
  | 'listGlossaries'
  | 'deleteGlossary'
  | 'teamUsage'
  | 'listPeriods'
  | 'listUsage'
  | 'listKeys'
  | 'createKey'
  | 'revokeKey'
  | 'findKeys'
  | 'listPlans'
  | 'applyPlan'
  | 'listAudit'
  | 'live';

const PAGE = {
  cursor: 'Where the page before ended: its `next`.',
  limit: 'How many, 1 to 200; 50 without it.',
  q: 'Only teams whose name or id holds this, whatever the case.',
} as const;

/** In the order in which the document lists them. */
export const ADMIN_ROUTES: readonly AdminRoute[] = [
  {
    id: 'listTeams',
    method: 'GET',
    path: '/teams',
    summary: 'Teams in order of creation, a page at a time.',
    status: 200,
    answer: Type.Object({ teams: Type.Array(TeamAnswer), next: Type.Union([Type.String(), Type.Null()]) }),
    query: PAGE,
  },
  {
    id: 'createTeam',
    method: 'POST',
    path: '/teams',
    summary: 'Creates a team on a plan.',
    body: NewTeamBody,
    status: 201,
    answer: ChangedTeamAnswer,
  },
  { id: 'showTeam', method: 'GET', path: '/teams/{id}', summary: 'A team and the numbers it is held to.', status: 200, answer: TeamAnswer },
  {
    id: 'updateTeam',
    method: 'PATCH',
    path: '/teams/{id}',
    summary: "Changes a team's plan or name, or adds to its credit or takes of it.",
    body: TeamPatchBody,
    status: 200,
    answer: ChangedTeamAnswer,
  },
  {
    id: 'deleteTeam',
    method: 'DELETE',
    path: '/teams/{id}',
    summary: 'Deletes a team with all that it has: keys, glossaries, history. What was interrupted is ended by repeating it.',
    status: 204,
    query: { keep_usage: '`true`: days and periods stay, without names and labels. `false` without it.' },
  },
  {
    id: 'listGlossaries',
    method: 'GET',
    path: '/teams/{id}/glossaries',
    summary: "A team's glossaries, without their entries.",
    status: 200,
    answer: Type.Object({ glossaries: Type.Array(GlossaryAnswer) }),
  },
  {
    id: 'deleteGlossary',
    method: 'DELETE',
    path: '/glossaries/{id}',
    summary: 'Deletes a glossary of whichever team.',
    status: 204,
  },
  {
    id: 'teamUsage',
    method: 'GET',
    path: '/teams/{id}/usage',
    summary: 'What the team has used of its current period: as GET /v1/usage.',
    status: 200,
    answer: Type.Object({}),
  },
  {
    id: 'listPeriods',
    method: 'GET',
    path: '/teams/{id}/periods',
    summary: "A team's periods and what each came to, newest first, the running one included.",
    status: 200,
    answer: Type.Object({ periods: Type.Array(PeriodAnswer) }),
  },
  {
    id: 'listUsage',
    method: 'GET',
    path: '/usage',
    summary: 'What teams have used, by day, month or in all, as pages of JSON or as one CSV file.',
    status: 200,
    answer: Type.Object({ usage: Type.Array(UsageRowAnswer), next: Type.Union([Type.String(), Type.Null()]) }),
    otherType: 'text/csv',
    query: {
      from: 'The first day, as 2026-11-01, in UTC; with to. Without both, the UTC month that runs.',
      to: 'The last day, which is included; at most 400 days in all.',
      by: 'day, month or total: what a row adds up; day without it.',
      keys: 'true for a row of each key; false without it.',
      team: "Only this team's.",
      cursor: PAGE.cursor,
      limit: 'How many rows at most, 1 to 200; 50 without it. A page may be shorter and still have a next one. CSV has all rows.',
      format: 'json or csv; json without it.',
    },
  },
  {
    id: 'listKeys',
    method: 'GET',
    path: '/teams/{id}/keys',
    summary: "A team's keys, and when each was last used.",
    status: 200,
    answer: Type.Object({ keys: Type.Array(KeyAnswer) }),
  },
  {
    id: 'createKey',
    method: 'POST',
    path: '/teams/{id}/keys',
    summary: 'Makes a key and shows it, once.',
    body: NewKeyBody,
    status: 201,
    answer: NewKeyAnswer,
  },
  {
    id: 'revokeKey',
    method: 'POST',
    path: '/keys/{id}/revoke',
    summary: 'Revokes a key: no later request with it is let through.',
    status: 200,
    answer: Type.Object({ key_id: Type.String(), status: Type.Enum(['revoked'], { type: 'string' }), replicated }),
  },
  {
    id: 'findKeys',
    method: 'POST',
    path: '/keys/find',
    summary: 'Whose key it is: by the whole key, or by its first twelve characters. An empty list where no team has such a key.',
    body: KeySearchBody,
    status: 200,
    answer: Type.Object({ keys: Type.Array(FoundKeyAnswer) }),
    looksOnly: true,
  },
  {
    id: 'listPlans',
    method: 'GET',
    path: '/plans',
    summary: 'The plans of the configuration.',
    status: 200,
    answer: Type.Object({ plans: Type.Array(Type.Object({ name: Type.String() })) }),
  },
  {
    id: 'applyPlan',
    method: 'POST',
    path: '/plans/{name}/apply',
    summary: "Copies a plan's numbers to all of its teams.",
    status: 200,
    answer: PlanAppliedAnswer,
  },
  {
    id: 'listAudit',
    method: 'GET',
    path: '/audit',
    summary: 'What operators have changed, newest first, a page at a time.',
    status: 200,
    answer: AuditAnswer,
    query: { team: 'Only changes of the team with this id, which may be gone.', cursor: PAGE.cursor, limit: PAGE.limit },
  },
  { id: 'live', method: 'GET', path: '/live', summary: 'The last 15 minutes in steps of 5 seconds.', status: 200, answer: LiveAnswer },
];
