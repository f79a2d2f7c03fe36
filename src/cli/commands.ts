// All commands, in the order in which help lists them.
import type { Command, LateCommand } from './command.ts';
import { configCheck } from './commands/config-check.ts';
import { engineCheck } from './commands/engine-check.ts';
import { keyCreate } from './commands/key-create.ts';
import { keyFind } from './commands/key-find.ts';
import { keyList } from './commands/key-list.ts';
import { keyRevoke } from './commands/key-revoke.ts';
import { openapi } from './commands/openapi.ts';
import { planApply } from './commands/plan-apply.ts';
import { routes } from './commands/routes.ts';
import { teamCreate } from './commands/team-create.ts';
import { teamList } from './commands/team-list.ts';
import { teamShow } from './commands/team-show.ts';
import { teamUpdate } from './commands/team-update.ts';
import { usage } from './commands/usage.ts';

/** The two that run the gateway are loaded late: they bring an HTTP library that no other command needs. */
const serve: LateCommand = {
  name: 'serve',
  summary: 'Runs the gateway.',
  load: async () => (await import('./commands/serve.ts')).serve,
};

const demo: LateCommand = {
  name: 'demo',
  summary: 'Runs the gateway with a built-in engine, a demo team and a key to try it with.',
  load: async () => (await import('./commands/demo.ts')).demo,
};

export const COMMANDS: readonly (Command | LateCommand)[] = [
  serve,
  demo,
  teamCreate,
  teamList,
  teamShow,
  teamUpdate,
  keyCreate,
  keyList,
  keyFind,
  keyRevoke,
  usage,
  planApply,
  configCheck,
  engineCheck,
  routes,
  openapi,
];
