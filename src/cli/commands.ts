// All commands, in the order of help. Listing them loads none of their files; running one loads only its own.
import type { AdminOperation } from '../admin/operation.ts';
import type { Command, ListedCommand } from './command.ts';

/** `team create` is exported as `teamCreate`. */
type ExportOf<Name> = Name extends `${infer First} ${infer Second}` ? `${First}${Capitalize<Second>}` : Name;

/** Commands of one file, by name and summary. */
function commandsOf<Name extends string>(
  load: () => Promise<Readonly<Record<ExportOf<Name>, Command>>>,
  summaries: Readonly<Record<Name, string>>,
): ListedCommand[] {
  return (Object.entries(summaries) as [Name, string][]).map(([name, summary]) => ({
    name,
    summary,
    load: async () => (await load())[name.replace(/ (.)/, (_, initial: string) => initial.toUpperCase()) as ExportOf<Name>],
  }));
}

/** Commands that are operations of one file, by name: the operation and the summary. */
function operationsOf<Id extends string>(
  load: () => Promise<Readonly<Record<Id, AdminOperation>>>,
  listed: Readonly<Record<string, readonly [operation: Id, summary: string]>>,
): ListedCommand[] {
  return Object.entries(listed).map(([name, [id, summary]]) => ({
    name,
    summary,
    load: async () => (await import('./operation-command.ts')).commandOf((await load())[id]),
  }));
}

const usage = () => import('./commands/usage-commands.ts');

export const COMMANDS: readonly ListedCommand[] = [
  ...commandsOf(() => import('./commands/serve.ts'), { serve: 'Runs the gateway.' }),
  ...commandsOf(() => import('./commands/demo.ts'), {
    demo: 'Runs the gateway with a built-in engine, a demo team and a key to try it with.',
  }),
  ...commandsOf(() => import('./commands/team-commands.ts'), {
    'team create': 'Creates a team on a plan.',
    'team list': 'Lists teams: all of them, or by plan and by what is left of their limits.',
    'team show': 'Shows a team and its limits.',
    'team update': "Changes a team's plan or name, or adds or deducts credit.",
    'team delete': 'Deletes a team with all its data.',
  }),
  ...commandsOf(() => import('./commands/key-commands.ts'), {
    'key create': 'Creates a key for a team and shows it, once.',
    'key list': "Lists a team's keys and when each was last used.",
    'key find': 'Finds a key: by all of it, from standard input, or by its first twelve characters.',
    'key update': "Changes a key's label or limits, disables it, or enables it again.",
    'key revoke': 'Revokes a key: its next request is refused.',
  }),
  ...operationsOf(() => import('../admin/operations/tags.ts'), {
    'tag set': ['setTag', 'Limits the requests of a team that carry a tag, or refuses them.'],
    'tag list': ['listTags', "Lists a team's tags that have limits, and what they have used."],
    'tag delete': ['deleteTag', 'Removes the limits of a tag.'],
  }),
  ...operationsOf(() => import('../admin/operations/glossaries.ts'), {
    'glossary list': ['listGlossaries', "Lists a team's glossaries."],
    'glossary delete': ['deleteGlossary', 'Deletes a glossary.'],
  }),
  ...commandsOf(usage, { usage: "Shows a team's usage in its current period." }),
  ...commandsOf(() => import('./commands/usage-export.ts'), {
    'usage export': 'Exports the usage of teams by day, month or in total, for invoices.',
  }),
  ...commandsOf(usage, { 'usage periods': "Shows a team's periods and the usage in each." }),
  ...commandsOf(() => import('./commands/invoices.ts'), {
    invoices: 'Lists what each period of a team that was closed in a month comes to.',
  }),
  ...commandsOf(() => import('./commands/plan-apply.ts'), { 'plan apply': "Copies a plan's numbers to all of its teams." }),
  ...commandsOf(() => import('./commands/store-commands.ts'), {
    'store backup': 'Copies the SQLite store to a file, while gateways use it.',
    'store check': 'Checks the store for inconsistent records.',
    'store copy': 'Copies a store to an empty store of any kind, and compares both.',
    'store migrate': 'Migrates a store of an older version to this one.',
  }),
  ...operationsOf(() => import('../admin/operations/requests.ts'), {
    requests: ['listRequests', 'Says why requests of a running gateway were refused or failed.'],
  }),
  ...operationsOf(() => import('../admin/operations/documents.ts'), {
    'documents list': ['listDocuments', 'Lists the documents of teams, newest first.'],
  }),
  ...operationsOf(() => import('../admin/operations/audit.ts'), {
    'audit list': ['listAudit', 'Lists what operators have changed, newest first.'],
  }),
  ...commandsOf(() => import('./commands/memory-clear.ts'), { 'memory clear': 'Deletes cached translations.' }),
  ...commandsOf(() => import('./commands/config-check.ts'), { 'config check': 'Checks the configuration and shows the result.' }),
  ...commandsOf(() => import('./commands/engine-commands.ts'), {
    'engine check': 'Has each replica translate one sentence, and says what is wrong with those that cannot.',
    'engine route': 'Says which engine a request would go to, and why.',
  }),
  ...commandsOf(() => import('./commands/api-commands.ts'), {
    routes: 'Shows the steps of each route, including those of plugins.',
    openapi: 'Prints the OpenAPI 3.1 document of the API.',
  }),
];
