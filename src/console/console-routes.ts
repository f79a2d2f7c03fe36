// THE table of the console: method, path, page. The navigation's sections are in layout.ts.
import { ASSET_ROUTES } from './assets.ts';
import { APPLY_PLAN_ROUTES } from './pages/apply-plan.ts';
import { NEW_TEAM_ROUTES } from './pages/new-team.ts';
import { OVERVIEW_ROUTES } from './pages/overview.ts';
import { PLANS_ROUTES } from './pages/plans.ts';
import { REVOKE_KEY_ROUTES } from './pages/revoke-key.ts';
import { ROTATE_KEY_ROUTES } from './pages/rotate-key.ts';
import { SIGN_IN_ROUTES } from './pages/sign-in.ts';
import { TEAM_CHANGE_ROUTES } from './pages/team-changes.ts';
import { TEAM_ROUTES } from './pages/team.ts';
import { TEAMS_ROUTES } from './pages/teams.ts';
import type { ConsoleRoute } from './console-route.ts';

export const CONSOLE_ROUTES: readonly ConsoleRoute[] = [
  ...ASSET_ROUTES,
  ...SIGN_IN_ROUTES,
  ...OVERVIEW_ROUTES,
  ...TEAMS_ROUTES,
  // Before the page of a team: `new` is no id.
  ...NEW_TEAM_ROUTES,
  ...TEAM_ROUTES,
  ...TEAM_CHANGE_ROUTES,
  ...ROTATE_KEY_ROUTES,
  ...REVOKE_KEY_ROUTES,
  ...PLANS_ROUTES,
  ...APPLY_PLAN_ROUTES,
];
