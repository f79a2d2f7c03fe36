// The table of the admin API, a route for each operation, and how the row for a path is found; the
// console's pages are found likewise.
import type { Refusal } from '../core/outcome.ts';
import { refuse } from '../core/problem.ts';
import { routeOf } from './operation-http.ts';
import type { AdminRoute } from './operation-http.ts';
import { operations as audit } from './operations/audit.ts';
import { operations as documents } from './operations/documents.ts';
import { operations as glossaries } from './operations/glossaries.ts';
import { operations as invoices } from './operations/invoices.ts';
import { operations as keys } from './operations/keys.ts';
import { operations as live } from './operations/live.ts';
import { operations as periods } from './operations/periods.ts';
import { operations as plans } from './operations/plans.ts';
import { operations as requests } from './operations/requests.ts';
import { operations as tags } from './operations/tags.ts';
import { operations as teamChanges } from './operations/team-changes.ts';
import { operations as teams } from './operations/teams.ts';
import { operations as usage } from './operations/usage.ts';

export const ADMIN_PREFIX = '/admin/v1';
/** Of an answer that was given before, to the same request with the same `Idempotency-Key`. */
export const REPLAYED = 'Lingate-Replayed';

/** In the order of the document. */
const OPERATIONS = [teams, teamChanges, periods, plans, live, usage, invoices, keys, glossaries, tags, audit, requests, documents].flat();

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

/** In the order in which a refusal lists them, whatever that of the rows. */
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'];

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
    const allowed = new Set(matching.flatMap(({ route }) => methodsOf(route)));
    const Allow = METHODS.filter((one) => allowed.has(one)).join(', ');
    return refuse('method_not_allowed', `This ${what} accepts ${Allow}.`, undefined, [['Allow', Allow]]);
  };
}

/** A named group for each variable segment; all else stands for itself. */
function patternOf(path: string, segment: (name: string) => string): RegExp {
  const whole = path.replaceAll('.', '\\.').replaceAll(/\{(\w+)\}/g, (_braces, name: string) => `(?<${name}>${segment(name)})`);
  return new RegExp(`^${whole}$`);
}
