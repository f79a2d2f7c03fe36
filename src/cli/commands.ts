// All commands, in the order in which help lists them.
import type { Command, LateCommand } from './command.ts';
import { configCheck } from './config-check.ts';
import { keyCreate } from './key-create.ts';
import { keyList } from './key-list.ts';
import { keyRevoke } from './key-revoke.ts';
import { openapi } from './openapi.ts';
import { planApply } from './plan-apply.ts';
import { routes } from './routes.ts';
import { teamCreate } from './team-create.ts';
import { teamList } from './team-list.ts';
import { teamShow } from './team-show.ts';
import { teamUpdate } from './team-update.ts';
import { usage } from './usage.ts';

/** The two that run the gateway are loaded late: they bring an HTTP library that no other command needs. */
const serve: LateCommand = {
  name: 'serve',
  summary: 'Runs the gateway.',
  load: async () => (await import('./serve.ts')).serve,
};

const demo: LateCommand = {
  name: 'demo',
  summary: 'Runs the gateway with a built-in engine, a demo team and a key to try it with.',
  load: async () => (await import('./demo.ts')).demo,
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
  keyRevoke,
  usage,
  planApply,
  configCheck,
  routes,
  openapi,
];
