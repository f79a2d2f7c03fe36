// The table of the admin API: method, path, input, answer. Handlers and the OpenAPI document are derived from it.
import type { TObject, TSchema } from 'typebox';
import { Type } from '../domain/schema-type.ts';
import {
  AuditAnswer,
  ChangedKeyAnswer,
  ChangedTeamAnswer,
  FoundKeyAnswer,
  GlossaryAnswer,
  KeyAnswer,
  KeyPatchBody,
  KeySearchBody,
  LiveAnswer,
  NewKeyAnswer,
  NewKeyBody,
  NewTeamBody,
  PeriodAnswer,
  PlanAppliedAnswer,
  TeamAnswer,
  TeamPatchBody,
  UsageRowAnswer,
  replicated,
} from './admin-schemas.ts';

export const ADMIN_PREFIX = '/admin/v1';

export interface AdminRoute {
  /** The `operationId`, by which handlers are found. */
  readonly id: AdminRouteId;
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** Below `/admin/v1`; `{id}` and `{name}` stand for one segment. */
  readonly path: string;
  readonly summary: string;
  readonly body?: TObject;
  readonly status: 200 | 201 | 204;
  /** Absent with 204. */
  readonly answer?: TSchema;
  /** Changes nothing although it is not a GET: what it searches for must not be in a URL. */
  readonly looksOnly?: true;
  /** Query parameters with their descriptions. */
  readonly query?: Readonly<Record<string, string>>;
  /** The other media type that it can answer, if requested. */
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
  | 'updateKey'
  | 'revokeKey'
  | 'findKeys'
  | 'listPlans'
  | 'applyPlan'
  | 'listAudit'
  | 'live';

const PAGE = {
  cursor: 'The `next` of the previous page.',
  limit: 'The size of the page, 1 to 200; 50 by default.',
  q: 'Only teams whose name or id contains this, in upper or lower case.',
} as const;

/** In the order of the document. */
export const ADMIN_ROUTES: readonly AdminRoute[] = [
  {
    id: 'listTeams',
    method: 'GET',
    path: '/teams',
    summary: 'Lists teams in order of creation, in pages.',
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
  { id: 'showTeam', method: 'GET', path: '/teams/{id}', summary: 'Shows a team and its limits.', status: 200, answer: TeamAnswer },
  {
    id: 'updateTeam',
    method: 'PATCH',
    path: '/teams/{id}',
    summary: "Changes a team's plan or name, or adds or deducts credit.",
    body: TeamPatchBody,
    status: 200,
    answer: ChangedTeamAnswer,
  },
  {
    id: 'deleteTeam',
    method: 'DELETE',
    path: '/teams/{id}',
    summary: 'Deletes a team with all its data: keys, glossaries, history. Repeat an interrupted deletion.',
    status: 204,
    query: { keep_usage: '`true`: days and periods stay, without names and labels. `false` by default.' },
  },
  {
    id: 'listGlossaries',
    method: 'GET',
    path: '/teams/{id}/glossaries',
    summary: "Lists a team's glossaries, without their entries.",
    status: 200,
    answer: Type.Object({ glossaries: Type.Array(GlossaryAnswer) }),
  },
  {
    id: 'deleteGlossary',
    method: 'DELETE',
    path: '/glossaries/{id}',
    summary: 'Deletes a glossary.',
    status: 204,
  },
  {
    id: 'teamUsage',
    method: 'GET',
    path: '/teams/{id}/usage',
    summary: "Shows a team's usage in its current period, like GET /v1/usage.",
    status: 200,
    answer: Type.Object({}),
  },
  {
    id: 'listPeriods',
    method: 'GET',
    path: '/teams/{id}/periods',
    summary: "Shows a team's periods and the usage in each, newest first, including the current one.",
    status: 200,
    answer: Type.Object({ periods: Type.Array(PeriodAnswer) }),
  },
  {
    id: 'listUsage',
    method: 'GET',
    path: '/usage',
    summary: 'Shows the usage of teams by day, month or in total, as pages of JSON or as one CSV file.',
    status: 200,
    answer: Type.Object({ usage: Type.Array(UsageRowAnswer), next: Type.Union([Type.String(), Type.Null()]) }),
    otherType: 'text/csv',
    query: {
      from: 'The first UTC day, for example 2026-11-01; together with to. Without both: the current UTC month.',
      to: 'The last UTC day (inclusive); at most 400 days.',
      by: 'day (the default), month or total: the span of one row.',
      keys: 'true: one row for each key. false by default.',
      team: 'Only this team.',
      cursor: PAGE.cursor,
      limit: 'The most rows of a page, 1 to 200; 50 by default. A page can be shorter and still have a next one. CSV has all rows.',
      format: 'json (the default) or csv.',
    },
  },
  {
    id: 'listKeys',
    method: 'GET',
    path: '/teams/{id}/keys',
    summary: "Lists a team's keys, and when each was last used.",
    status: 200,
    answer: Type.Object({ keys: Type.Array(KeyAnswer) }),
  },
  {
    id: 'createKey',
    method: 'POST',
    path: '/teams/{id}/keys',
    summary: 'Creates a key and shows it once.',
    body: NewKeyBody,
    status: 201,
    answer: NewKeyAnswer,
  },
  {
    id: 'updateKey',
    method: 'PATCH',
    path: '/keys/{id}',
    summary: "Changes a key's label or limits, disables it or enables it again; effective at its next request.",
    body: KeyPatchBody,
    status: 200,
    answer: ChangedKeyAnswer,
  },
  {
    id: 'revokeKey',
    method: 'POST',
    path: '/keys/{id}/revoke',
    summary: 'Revokes a key: its next request is refused.',
    status: 200,
    answer: Type.Object({ key_id: Type.String(), status: Type.Enum(['revoked'], { type: 'string' }), replicated }),
  },
  {
    id: 'findKeys',
    method: 'POST',
    path: '/keys/find',
    summary: 'Finds a key by all of it or by its first twelve characters. The list is empty if no team has such a key.',
    body: KeySearchBody,
    status: 200,
    answer: Type.Object({ keys: Type.Array(FoundKeyAnswer) }),
    looksOnly: true,
  },
  {
    id: 'listPlans',
    method: 'GET',
    path: '/plans',
    summary: 'Lists the plans of the configuration.',
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
    summary: 'Lists what operators have changed, newest first, in pages.',
    status: 200,
    answer: AuditAnswer,
    query: { team: 'Only changes of the team with this id, which may have been deleted.', cursor: PAGE.cursor, limit: PAGE.limit },
  },
  {
    id: 'live',
    method: 'GET',
    path: '/live',
    summary: 'Shows the last 15 minutes in steps of 5 seconds.',
    status: 200,
    answer: LiveAnswer,
  },
];
