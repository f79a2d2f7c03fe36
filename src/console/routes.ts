// THE table of the console: method, path, page. The navigation's sections are in layout.ts.
import { ASSET_ROUTES } from './assets.ts';
import { SIGN_IN_ROUTES } from './pages/sign-in.ts';
import { TEAMS_ROUTES } from './pages/teams.ts';
import { get } from './route.ts';
import type { ConsoleRoute } from './route.ts';

export const CONSOLE_ROUTES: readonly ConsoleRoute[] = [
  ...ASSET_ROUTES,
  ...SIGN_IN_ROUTES,
  get('', () => ({ kind: 'see', to: '/teams' })),
  ...TEAMS_ROUTES,
];
