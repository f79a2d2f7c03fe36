// The table of the admin API, a route for each operation, and how the row for a path is found; the console's pages are found likewise.
import type { Refusal } from '../core/outcome.ts';
import { refuse } from '../core/problem.ts';
import { routeOf } from './operation-http.ts';
import type { AdminRoute } from './operation-http.ts';
import type { AdminOperation } from './operation.ts';
import { listAudit } from './operations/audit.ts';
import { listDocuments } from './operations/documents.ts';
import { deleteGlossary, listGlossaries } from './operations/glossaries.ts';
import { listInvoices } from './operations/invoices.ts';
import { createKey, findKeys, listKeys, revokeKey, updateKey } from './operations/keys.ts';
import { live } from './operations/live.ts';
import { listPeriods, teamUsage } from './operations/periods.ts';
import { applyPlan, listPlans } from './operations/plans.ts';
import { listRequests } from './operations/requests.ts';
import { deleteTag, listTags, setTag, showTag } from './operations/tags.ts';
import { createTeam, deleteTeam, listTeams, showTeam, updateTeam } from './operations/teams.ts';
import { listUsage } from './operations/usage.ts';

export const ADMIN_PREFIX = '/admin/v1';
/** The field of an answer that was given before, to the same request with the same `Idempotency-Key`. */
export const REPLAYED = 'Lingate-Replayed';

export type AdminRouteId = string;

/** In the order of the document. */
const OPERATIONS: readonly AdminOperation[] = [
  listTeams,
  createTeam,
  showTeam,
  updateTeam,
  deleteTeam,
  teamUsage,
  listPeriods,
  listPlans,
  applyPlan,
  live,
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

export const ADMIN_ROUTES: readonly AdminRoute[] = OPERATIONS.map(routeOf);

const NO_PATH = refuse('not_found', 'The admin API has no such path.');

const matched = matchingOf(ADMIN_ROUTES, {
  // A tag may be anything printable, percent-encoded; its schema judges it.
  segment: (name) => (name === 'tag' ? '[!-.0-~]+' : '[A-Za-z0-9_-]+'),
  what: 'path',
  methodsOf: ({ method }) => [method],
});

/** `path` is without the prefix. */
export function match(method: string, path: string): MatchedRoute<AdminRoute> | Refusal {
  return matched(method, path) ?? NO_PATH;
}

/** The variable segments of the path are as they were sent, by their names. */
export interface MatchedRoute<Route> {
  readonly route: Route;
  readonly parameters: Readonly<Record<string, string>>;
}

interface Matching<Route> {
  /** What the variable segment of this name may be, as a regular expression. */
  readonly segment: (name: string) => string;
  readonly what: 'path' | 'page';
  readonly methodsOf: (route: Route) => readonly string[];
}

/** Finds the row for a path; a refusal for another method; `undefined` if there is no such path. */
export function matchingOf<Route extends { readonly path: string }>(
  routes: readonly Route[],
  { segment, what, methodsOf }: Matching<Route>,
): (method: string, path: string) => MatchedRoute<Route> | Refusal | undefined {
  const patterns = routes.map((route) => ({ route, pattern: patternOf(route.path, segment) }));
  return (method, path) => {
    const matching = patterns.flatMap(({ route, pattern }) => {
      const found = pattern.exec(path);
      return found === null ? [] : [{ route, parameters: { ...found.groups } }];
    });
    const found = matching.find(({ route }) => methodsOf(route).includes(method));
    if (found !== undefined || matching.length === 0) return found;
    const Allow = [...new Set(matching.flatMap(({ route }) => methodsOf(route)))].join(', ');
    return refuse('method_not_allowed', `This ${what} accepts ${Allow}.`, undefined, [['Allow', Allow]]);
  };
}

/** A named group for each variable segment; all else stands for itself. */
function patternOf(path: string, segment: (name: string) => string): RegExp {
  const whole = path.replaceAll('.', '\\.').replaceAll(/\{(\w+)\}/g, (_braces, name: string) => `(?<${name}>${segment(name)})`);
  return new RegExp(`^${whole}$`);
}
