// THE table of the console: method, path, page; and the lookup of a path's row. The navigation's sections are in layout.ts.
import { listAudit } from '../admin/operations/audit.ts';
import { listDocuments } from '../admin/operations/documents.ts';
import { listRequests } from '../admin/operations/requests.ts';
import { matchingOf } from '../admin/route-matching.ts';
import type { MatchedRoute } from '../admin/route-matching.ts';
import type { Refusal } from '../core/outcome.ts';
import { refuse } from '../core/problem.ts';
import { get } from './console-route.ts';
import type { ConsoleRoute } from './console-route.ts';
import { listPage } from './list-page.ts';
import { ASSET_ROUTES } from './assets.ts';
import { GLOSSARY_ROUTES } from './pages/glossaries.ts';
import { KEY_ROUTES } from './pages/key.ts';
import { OIDC_ROUTES } from './pages/oidc-sign-in.ts';
import { OVERVIEW_ROUTES } from './pages/overview.ts';
import { PLANS_ROUTES } from './pages/plans.ts';
import { SIGN_IN_ROUTES } from './pages/sign-in.ts';
import { TAG_ROUTES } from './pages/tags.ts';
import { TEAM_ROUTES } from './pages/team.ts';
import { TEAMS_ROUTES } from './pages/teams.ts';
import { MONTH_ROUTES } from './pages/month-lists.ts';

const DOCUMENTS =
  "Files that teams have sent, until they expire. Neither their names nor their texts are shown: they are the customers'. Only the sender sees why a file was refused.";
const REQUESTS =
  'The latest that were refused, failed, or needed a second attempt. Each process keeps 1,000 refusals and 1,000 failures in memory; the log has all.';

/** Pages that are a list of rows and nothing else. */
const LIST_ROUTES: readonly ConsoleRoute[] = [
  get('/requests', listPage({ one: listRequests, path: '/requests', section: 'requests', title: 'Requests', intro: REQUESTS })),
  get('/documents', listPage({ one: listDocuments, path: '/documents', section: 'documents', title: 'Documents', intro: DOCUMENTS })),
  get('/audit', listPage({ one: listAudit, path: '/audit', section: 'audit', title: 'Audit', of: 'Changes', pageSize: 25 })),
];

export const CONSOLE_ROUTES: readonly ConsoleRoute[] = [
  ...ASSET_ROUTES,
  ...SIGN_IN_ROUTES,
  ...OIDC_ROUTES,
  ...OVERVIEW_ROUTES,
  ...TEAMS_ROUTES,
  ...TEAM_ROUTES,
  ...GLOSSARY_ROUTES,
  ...TAG_ROUTES,
  ...KEY_ROUTES,
  ...MONTH_ROUTES,
  ...LIST_ROUTES,
  ...PLANS_ROUTES,
];

const NO_PAGE = refuse('not_found', 'The console has no such page.');

const matched = matchingOf(CONSOLE_ROUTES, {
  segment: () => '[A-Za-z0-9_-]{1,100}',
  what: 'page',
  methodsOf: ({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [method]),
});

/** `path` is as it was sent, without the prefix. HEAD is handled like GET. */
export function match(method: string, path: string): MatchedRoute<ConsoleRoute> | Refusal {
  return matched(method, path) ?? NO_PAGE;
}
