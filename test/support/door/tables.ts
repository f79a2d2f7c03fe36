// The tables by which tests at the boundary find out what there is: routes, operations, commands, codes, answers, settings, builds.
export { ADMIN_ROUTES } from '../../../src/admin/admin-routes.ts';
export { describeRoutes } from '../../../src/app/route-rows.ts';
export { versionOf } from '../../../src/app/version.ts';
export { commandsOf } from '../../../src/cli/commands.ts';
export { withPlugins } from '../../../src/config/plugins.ts';
export { CONSOLE_ROUTES } from '../../../src/console/console.ts';
export { problemsWith } from '../../../src/core/problem.ts';
export { routeName } from '../../../src/core/route.ts';
export { GLOSSARY_ID } from '../../../src/docs/operations.ts';
export {
  GlossariesAnswer,
  GlossaryAnswer,
  GlossaryEntriesAnswer,
  LanguagesAnswer,
  TranslateAnswer,
  UsageAnswer,
} from '../../../src/domain/answers.ts';
export { SCOPES } from '../../../src/domain/scopes.ts';
export { builtInProtocols } from '../../../src/engines/protocols/built-in.ts';
export { ROUTES } from '../../../src/routes.ts';
export { LIVE_STEPS } from '../../../src/runtime/recent-traffic.ts';
export { describeUws, loadUws, NoUws } from '../../../src/server/uws-build.ts';
export { NEWER, OLDER } from '../../../src/server/uws-build.ts';
