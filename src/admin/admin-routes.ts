// The table of the admin API: method, path, input, answer. Handlers and the OpenAPI document are derived from it.
import type { TObject, TSchema } from 'typebox';
import { Type } from '../domain/typebox.ts';
import { TEAM_CRITERIA } from './team-filter.ts';
import {
  ChangedTeamAnswer,
  LiveAnswer,
  NewTeamBody,
  PeriodAnswer,
  PlanAppliedAnswer,
  PlanApplyBody,
  ShownTeamAnswer,
  TeamAnswer,
  TeamPatchBody,
} from './admin-schemas.ts';
import { routeOf } from './operation-http.ts';
import type { AdminRoute } from './operation-http.ts';
import { listAudit } from './operations/audit.ts';
import { listDocuments } from './operations/documents.ts';
import { deleteGlossary, listGlossaries } from './operations/glossaries.ts';
import { createKey, findKeys, listKeys, revokeKey, updateKey } from './operations/keys.ts';
import { listInvoices } from './operations/invoices.ts';
import { listRequests } from './operations/requests.ts';
import { listUsage } from './operations/usage.ts';
import { deleteTag, listTags, setTag, showTag } from './operations/tags.ts';
import type { AdminOperation } from './operation.ts';

export const ADMIN_PREFIX = '/admin/v1';
/** The field of an answer that was given before, to the same request with the same `Idempotency-Key`. */
export const REPLAYED = 'Lingate-Replayed';

/** In the order of the document. */
const OPERATIONS: readonly AdminOperation[] = [
  listUsage,
  listInvoices,
  listKeys,
  createKey,
  updateKey,
  revokeKey,
  findKeys,
  listGlossaries,
  deleteGlossary,
  listTags,
  showTag,
  setTag,
  deleteTag,
  listAudit,
  listRequests,
  listDocuments,
];

type RouteDraft = Omit<AdminRoute, 'id'>;

export type AdminRouteId = string;

const PAGE = {
  cursor: 'The `next` of the previous page.',
  limit: 'The size of the page, 1 to 200; 50 by default.',
  q: 'Only teams whose name, reference or id contains this, in upper or lower case.',
} as const;

const FILTERED_LIMIT =
  'The most entries of a page, 1 to 200; 50 by default. A page that checked thousands for a filter can be shorter, even empty, and still have a next one.';

/** In the order of the document. */
const ROUTES = {
  listTeams: get('/teams', 'Lists teams in order of creation, in pages.', pageOf('teams', TeamAnswer), {
    ...PAGE,
    limit: FILTERED_LIMIT,
    ...sentences(TEAM_CRITERIA),
  }),
  createTeam: { ...post('/teams', 'Creates a team on a plan.', ChangedTeamAnswer, NewTeamBody), status: 201 },
  showTeam: get('/teams/{id}', 'Shows a team, its limits, and how many of its requests were refused.', ShownTeamAnswer),
  updateTeam: patch(
    '/teams/{id}',
    "Changes a team's plan, name or reference, or adds or deducts credit.",
    ChangedTeamAnswer,
    TeamPatchBody,
  ),
  deleteTeam: remove('/teams/{id}', 'Deletes a team with all its data: keys, glossaries, history. Repeat an interrupted deletion.', {
    keep_usage: '`true`: days and periods stay, without names and labels. `false` by default.',
  }),
  teamUsage: get('/teams/{id}/usage', "Shows a team's usage in its current period, like GET /v1/usage.", Type.Object({})),
  listPeriods: get(
    '/teams/{id}/periods',
    "Shows a team's periods and the usage in each, newest first, including the current one.",
    listOf('periods', PeriodAnswer),
  ),
  listPlans: get('/plans', 'Lists the plans of the configuration.', listOf('plans', Type.Object({ name: Type.String() }))),
  applyPlan: {
    ...post(
      '/plans/{name}/apply',
      "Copies a plan's numbers to all of its teams, now or when their periods end.",
      PlanAppliedAnswer,
      PlanApplyBody,
    ),
    bodyOptional: true,
  },
  live: get('/live', 'Shows the last 15 minutes in steps of 5 seconds.', LiveAnswer),
} satisfies Readonly<Record<string, RouteDraft>>;

/** Those that are not derived from an operation yet. */
export type HandledRouteId = keyof typeof ROUTES;

export const ADMIN_ROUTES: readonly AdminRoute[] = [
  ...Object.entries(ROUTES).map(([id, route]) => ({ id, ...route })),
  ...OPERATIONS.map(routeOf),
];

/** What criteria are about, as descriptions of query parameters. */
function sentences(criteria: Readonly<Record<string, { readonly about: string }>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(criteria).map(([name, { about }]) => [name, `${about[0]!.toUpperCase()}${about.slice(1)}.`]));
}

function get(path: string, summary: string, answer: TSchema, query?: RouteDraft['query']): RouteDraft {
  return { method: 'GET', path, summary, status: 200, answer, query };
}

function post(path: string, summary: string, answer: TSchema, body?: TObject): RouteDraft {
  return { method: 'POST', path, summary, body, status: 200, answer };
}

function patch(path: string, summary: string, answer: TSchema, body: TObject): RouteDraft {
  return { method: 'PATCH', path, summary, body, status: 200, answer };
}

function remove(path: string, summary: string, query?: RouteDraft['query']): RouteDraft {
  return { method: 'DELETE', path, summary, status: 204, query };
}

function listOf(name: string, items: TSchema): TSchema {
  return Type.Object({ [name]: Type.Array(items) });
}

function pageOf(name: string, items: TSchema): TSchema {
  return Type.Object({ [name]: Type.Array(items), next: Type.Union([Type.String(), Type.Null()]) });
}
