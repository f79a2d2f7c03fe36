// THE table of the console: method, path, page; and the lookup of a path's row. The navigation's sections are in layout.ts.
import { noMethod, parametersOf } from '../admin/admin-input.ts';
import type { Refusal } from '../core/outcome.ts';
import { refuse } from '../core/problem.ts';
import { ASSET_ROUTES } from './assets.ts';
import type { ConsoleRoute } from './console-route.ts';
import { AUDIT_ROUTES } from './pages/audit.ts';
import { GLOSSARY_ROUTES } from './pages/glossaries.ts';
import { KEY_ROUTES } from './pages/key.ts';
import { OVERVIEW_ROUTES } from './pages/overview.ts';
import { PLANS_ROUTES } from './pages/plans.ts';
import { ROTATE_KEY_ROUTES } from './pages/rotate-key.ts';
import { SIGN_IN_ROUTES } from './pages/sign-in.ts';
import { TEAM_CHANGE_ROUTES } from './pages/team-changes.ts';
import { TEAM_ROUTES } from './pages/team.ts';
import { TEAMS_ROUTES } from './pages/teams.ts';
import { USAGE_ROUTES } from './pages/usage-of-teams.ts';

export const CONSOLE_ROUTES: readonly ConsoleRoute[] = [
  ...ASSET_ROUTES,
  ...SIGN_IN_ROUTES,
  ...OVERVIEW_ROUTES,
  ...TEAMS_ROUTES,
  // Before the page of a team, because `new` is not an id.
  ...TEAM_CHANGE_ROUTES,
  ...TEAM_ROUTES,
  ...GLOSSARY_ROUTES,
  ...KEY_ROUTES,
  ...ROTATE_KEY_ROUTES,
  ...USAGE_ROUTES,
  ...PLANS_ROUTES,
  ...AUDIT_ROUTES,
];

const SEGMENT = /^[A-Za-z0-9_-]{1,100}$/;
const NO_PAGE = refuse('not_found', 'The console has no such page.');

interface Matched {
  readonly route: ConsoleRoute;
  readonly parameters: Readonly<Record<string, string>>;
}

/** `path` is as it was sent, without the prefix. HEAD is handled like GET. */
export function match(routes: readonly ConsoleRoute[], method: string, path: string): Matched | Refusal {
  const allowed: string[] = [];
  for (const route of routes) {
    const parameters = parametersOf(route.path, path, SEGMENT);
    if (parameters === undefined) continue;
    if (route.method === (method === 'HEAD' ? 'GET' : method)) return { route, parameters };
    allowed.push(...(route.method === 'GET' ? ['GET', 'HEAD'] : [route.method]));
  }
  return noMethod(allowed, 'page') ?? NO_PAGE;
}
