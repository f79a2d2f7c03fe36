// All commands, in the order in which help lists them. A list of commands loads none of their files, a command only its own.
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
    summary: "Changes a team's plan or name, or adds to its credit or takes of it.",
    load: async () => (await import('./commands/team-update.ts')).teamUpdate,
  },
  {
    name: 'team delete',
    summary: 'Deletes a team with all that it has.',
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
    summary: 'Finds whose key it is: a whole key from standard input, or by its first twelve characters.',
    load: async () => (await import('./commands/key-find.ts')).keyFind,
  },
  {
    name: 'key update',
    summary: "Changes a key's label or limits, disables it, or enables it again.",
    load: async () => (await import('./commands/key-update.ts')).keyUpdate,
  },
  {
    name: 'key revoke',
    summary: 'Revokes a key: no later request with it is let through.',
    load: async () => (await import('./commands/key-revoke.ts')).keyRevoke,
  },
  {
    name: 'glossary list',
    summary: "Lists a team's glossaries.",
    load: async () => (await import('./commands/glossary-list.ts')).glossaryList,
  },
  {
    name: 'glossary delete',
    summary: 'Deletes a glossary of whichever team.',
    load: async () => (await import('./commands/glossary-delete.ts')).glossaryDelete,
  },
  {
    name: 'usage',
    summary: 'Reports what a team has used of its current period.',
    load: async () => (await import('./commands/usage.ts')).usage,
  },
  {
    name: 'usage export',
    summary: 'Writes what teams have used, by day, month or in all: for invoices.',
    load: async () => (await import('./commands/usage-export.ts')).usageExport,
  },
  {
    name: 'usage periods',
    summary: "Shows a team's periods and what each came to.",
    load: async () => (await import('./commands/usage-periods.ts')).usagePeriods,
  },
  {
    name: 'plan apply',
    summary: "Copies a plan's numbers to all of its teams.",
    load: async () => (await import('./commands/plan-apply.ts')).planApply,
  },
  {
    name: 'store backup',
    summary: 'Writes a copy of the SQLite store into a file, while it serves.',
    load: async () => (await import('./commands/store-backup.ts')).storeBackup,
  },
  {
    name: 'store check',
    summary: 'Checks every invariant of the books, and says what is wrong.',
    load: async () => (await import('./commands/store-check.ts')).storeCheck,
  },
  {
    name: 'store copy',
    summary: 'Copies a store into an empty one of any kind, and compares both.',
    load: async () => (await import('./commands/store-copy.ts')).storeCopy,
  },
  {
    name: 'store migrate',
    summary: 'Brings a store that an older version has written up to this one.',
    load: async () => (await import('./commands/store-migrate.ts')).storeMigrate,
  },
  {
    name: 'audit list',
    summary: 'Lists what operators have changed, newest first.',
    load: async () => (await import('./commands/audit-list.ts')).auditList,
  },
  {
    name: 'memory clear',
    summary: 'Drops the translations that are remembered.',
    load: async () => (await import('./commands/memory-clear.ts')).memoryClear,
  },
  {
    name: 'config check',
    summary: 'Checks the configuration and shows the result.',
    load: async () => (await import('./commands/config-check.ts')).configCheck,
  },
  {
    name: 'engine check',
    summary: 'Has each replica of the engine translate one sentence, and says what is wrong where one cannot.',
    load: async () => (await import('./commands/engine-check.ts')).engineCheck,
  },
  {
    name: 'engine route',
    summary: 'Says which engine a request would get, and why.',
    load: async () => (await import('./commands/engine-route.ts')).engineRoute,
  },
  {
    name: 'routes',
    summary: 'Shows the steps that each route runs through, plugins included.',
    load: async () => (await import('./commands/routes.ts')).routes,
  },
  {
    name: 'openapi',
    summary: 'Prints the OpenAPI 3.1 document of the API.',
    load: async () => (await import('./commands/openapi.ts')).openapi,
  },
];
