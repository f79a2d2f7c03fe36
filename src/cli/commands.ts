// All commands, in the order of help. Listing them loads none of their files; running one loads only its own.
import type { LateCommand } from './command.ts';

export const COMMANDS: readonly LateCommand[] = [
  { name: 'serve', summary: 'Runs the gateway.', load: async () => (await import('./commands/serve.ts')).serve },
  {
    name: 'demo',
    summary: 'Runs the gateway with a built-in engine, a demo team and a key to try it with.',
    load: async () => (await import('./commands/demo.ts')).demo,
  },
  { name: 'team create', summary: 'Creates a team on a plan.', load: async () => (await import('./commands/team-create.ts')).teamCreate },
  { name: 'team list', summary: 'Lists all teams.', load: async () => (await import('./commands/team-list.ts')).teamList },
  { name: 'team show', summary: 'Shows a team and its limits.', load: async () => (await import('./commands/team-show.ts')).teamShow },
  {
    name: 'team update',
    summary: "Changes a team's plan or name, or adds or deducts credit.",
    load: async () => (await import('./commands/team-update.ts')).teamUpdate,
  },
  {
    name: 'team delete',
    summary: 'Deletes a team with all its data.',
    load: async () => (await import('./commands/team-delete.ts')).teamDelete,
  },
  {
    name: 'key create',
    summary: 'Creates a key for a team and shows it, once.',
    load: async () => (await import('./commands/key-create.ts')).keyCreate,
  },
  {
    name: 'key list',
    summary: "Lists a team's keys and when each was last used.",
    load: async () => (await import('./commands/key-list.ts')).keyList,
  },
  {
    name: 'key find',
    summary: 'Finds a key: by all of it, from standard input, or by its first twelve characters.',
    load: async () => (await import('./commands/key-find.ts')).keyFind,
  },
  {
    name: 'key update',
    summary: "Changes a key's label or limits, disables it, or enables it again.",
    load: async () => (await import('./commands/key-update.ts')).keyUpdate,
  },
  {
    name: 'key revoke',
    summary: 'Revokes a key: its next request is refused.',
    load: async () => (await import('./commands/key-revoke.ts')).keyRevoke,
  },
  {
    name: 'glossary list',
    summary: "Lists a team's glossaries.",
    load: async () => (await import('./commands/glossary-list.ts')).glossaryList,
  },
  {
    name: 'glossary delete',
    summary: 'Deletes a glossary.',
    load: async () => (await import('./commands/glossary-delete.ts')).glossaryDelete,
  },
  {
    name: 'usage',
    summary: "Shows a team's usage in its current period.",
    load: async () => (await import('./commands/usage.ts')).usage,
  },
  {
    name: 'usage export',
    summary: 'Exports the usage of teams by day, month or in total, for invoices.',
    load: async () => (await import('./commands/usage-export.ts')).usageExport,
  },
  {
    name: 'usage periods',
    summary: "Shows a team's periods and the usage in each.",
    load: async () => (await import('./commands/usage-periods.ts')).usagePeriods,
  },
  {
    name: 'plan apply',
    summary: "Copies a plan's numbers to all of its teams.",
    load: async () => (await import('./commands/plan-apply.ts')).planApply,
  },
  {
    name: 'store backup',
    summary: 'Copies the SQLite store to a file, while gateways use it.',
    load: async () => (await import('./commands/store-backup.ts')).storeBackup,
  },
  {
    name: 'store check',
    summary: 'Checks the store for inconsistent records.',
    load: async () => (await import('./commands/store-check.ts')).storeCheck,
  },
  {
    name: 'store copy',
    summary: 'Copies a store to an empty store of any kind, and compares both.',
    load: async () => (await import('./commands/store-copy.ts')).storeCopy,
  },
  {
    name: 'store migrate',
    summary: 'Migrates a store of an older version to this one.',
    load: async () => (await import('./commands/store-migrate.ts')).storeMigrate,
  },
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
    load: async () => (await import('./commands/engine-check.ts')).engineCheck,
  },
  {
    name: 'engine route',
    summary: 'Says which engine a request would go to, and why.',
    load: async () => (await import('./commands/engine-route.ts')).engineRoute,
  },
  {
    name: 'routes',
    summary: 'Shows the steps of each route, including those of plugins.',
    load: async () => (await import('./commands/routes.ts')).routes,
  },
  {
    name: 'openapi',
    summary: 'Prints the OpenAPI 3.1 document of the API.',
    load: async () => (await import('./commands/openapi.ts')).openapi,
  },
];
