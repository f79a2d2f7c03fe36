// The admin API as a table: method, path, what it takes, what it answers. Handlers and the OpenAPI document come from it.
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
  | 'updateKey'
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
    id: 'updateKey',
    method: 'PATCH',
    path: '/keys/{id}',
    summary: "Changes a key's label or limits, disables it or enables it again; holds from its next request on.",
    body: KeyPatchBody,
    status: 200,
    answer: ChangedKeyAnswer,
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
