// All commands, in the order of help. Listing them loads none of their files; running one loads only its own.
import type { ListedCommand } from './command.ts';

const team = () => import('./commands/team-commands.ts');
const key = () => import('./commands/key-commands.ts');
const glossary = () => import('./commands/glossary-commands.ts');
const usage = () => import('./commands/usage-commands.ts');
const store = () => import('./commands/store-commands.ts');
const engine = () => import('./commands/engine-commands.ts');
const api = () => import('./commands/api-commands.ts');

export const COMMANDS: readonly ListedCommand[] = [
  { name: 'serve', summary: 'Runs the gateway.', load: async () => (await import('./commands/serve.ts')).serve },
  {
    name: 'demo',
    summary: 'Runs the gateway with a built-in engine, a demo team and a key to try it with.',
    load: async () => (await import('./commands/demo.ts')).demo,
  },
  { name: 'team create', summary: 'Creates a team on a plan.', load: async () => (await team()).teamCreate },
  { name: 'team list', summary: 'Lists all teams.', load: async () => (await team()).teamList },
  { name: 'team show', summary: 'Shows a team and its limits.', load: async () => (await team()).teamShow },
  {
    name: 'team update',
    summary: "Changes a team's plan or name, or adds or deducts credit.",
    load: async () => (await team()).teamUpdate,
  },
  { name: 'team delete', summary: 'Deletes a team with all its data.', load: async () => (await team()).teamDelete },
  { name: 'key create', summary: 'Creates a key for a team and shows it, once.', load: async () => (await key()).keyCreate },
  { name: 'key list', summary: "Lists a team's keys and when each was last used.", load: async () => (await key()).keyList },
  {
    name: 'key find',
    summary: 'Finds a key: by all of it, from standard input, or by its first twelve characters.',
    load: async () => (await key()).keyFind,
  },
  {
    name: 'key update',
    summary: "Changes a key's label or limits, disables it, or enables it again.",
    load: async () => (await key()).keyUpdate,
  },
  { name: 'key revoke', summary: 'Revokes a key: its next request is refused.', load: async () => (await key()).keyRevoke },
  { name: 'glossary list', summary: "Lists a team's glossaries.", load: async () => (await glossary()).glossaryList },
  { name: 'glossary delete', summary: 'Deletes a glossary.', load: async () => (await glossary()).glossaryDelete },
  { name: 'usage', summary: "Shows a team's usage in its current period.", load: async () => (await usage()).usage },
  {
    name: 'usage export',
    summary: 'Exports the usage of teams by day, month or in total, for invoices.',
    load: async () => (await import('./commands/usage-export.ts')).usageExport,
  },
  { name: 'usage periods', summary: "Shows a team's periods and the usage in each.", load: async () => (await usage()).usagePeriods },
  {
    name: 'plan apply',
    summary: "Copies a plan's numbers to all of its teams.",
    load: async () => (await import('./commands/plan-apply.ts')).planApply,
  },
  {
    name: 'store backup',
    summary: 'Copies the SQLite store to a file, while gateways use it.',
    load: async () => (await store()).storeBackup,
  },
  { name: 'store check', summary: 'Checks the store for inconsistent records.', load: async () => (await store()).storeCheck },
  {
    name: 'store copy',
    summary: 'Copies a store to an empty store of any kind, and compares both.',
    load: async () => (await store()).storeCopy,
  },
  { name: 'store migrate', summary: 'Migrates a store of an older version to this one.', load: async () => (await store()).storeMigrate },
  {
    name: 'audit list',
    summary: 'Lists what operators have changed, newest first.',
    load: async () => (await import('./commands/audit-list.ts')).auditList,
  },
  {
    name: 'memory clear',
    summary: 'Deletes cached translations.',
    load: async () => (await import('./commands/memory-clear.ts')).memoryClear,
  },
  {
    name: 'config check',
    summary: 'Checks the configuration and shows the result.',
    load: async () => (await import('./commands/config-check.ts')).configCheck,
  },
  {
    name: 'engine check',
    summary: 'Has each replica translate one sentence, and says what is wrong with those that cannot.',
    load: async () => (await engine()).engineCheck,
  },
  { name: 'engine route', summary: 'Says which engine a request would go to, and why.', load: async () => (await engine()).engineRoute },
  { name: 'routes', summary: 'Shows the steps of each route, including those of plugins.', load: async () => (await api()).routes },
  { name: 'openapi', summary: 'Prints the OpenAPI 3.1 document of the API.', load: async () => (await api()).openapi },
];
