// THE table of the console: method, path, page; and the lookup of a path's row. The navigation's sections are in layout.ts.
import type { Refusal } from '../core/outcome.ts';
import { refuse } from '../core/problem.ts';
import { ASSET_ROUTES } from './assets.ts';
import type { ConsoleRoute } from './console-route.ts';
import { AUDIT_ROUTES } from './pages/audit.ts';
import { DELETE_TEAM_ROUTES } from './pages/delete-team.ts';
import { GLOSSARY_ROUTES } from './pages/glossaries.ts';
import { KEY_ROUTES } from './pages/key.ts';
import { NEW_TEAM_ROUTES } from './pages/new-team.ts';
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
  ...NEW_TEAM_ROUTES,
  ...TEAM_ROUTES,
  ...TEAM_CHANGE_ROUTES,
  ...DELETE_TEAM_ROUTES,
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
    const parameters = parametersOf(route.path, path);
    if (parameters === undefined) continue;
    if (route.method === (method === 'HEAD' ? 'GET' : method)) return { route, parameters };
    allowed.push(...(route.method === 'GET' ? ['GET', 'HEAD'] : [route.method]));
  }
  if (allowed.length === 0) return NO_PAGE;
  const Allow = [...new Set(allowed)].join(', ');
  return refuse('method_not_allowed', `This page accepts ${Allow}.`, undefined, [['Allow', Allow]]);
}

function parametersOf(pattern: string, path: string): Record<string, string> | undefined {
  const wanted = pattern.split('/');
  const given = path.split('/');
  if (wanted.length !== given.length) return undefined;
  const parameters: Record<string, string> = {};
  for (const [index, part] of wanted.entries()) {
    const segment = given[index]!;
    const name = /^\{(\w+)\}$/.exec(part)?.[1];
    if (name === undefined ? part !== segment : !SEGMENT.test(segment)) return undefined;
    if (name !== undefined) parameters[name] = segment;
  }
  return parameters;
}
