// All commands, in the order of help. Own ones load their files when they run, operations when
// their first word is given.
import type { AdminOperation } from '../admin/operation.ts';
import type { Command, ListedCommand } from './command.ts';

/** Commands that begin with the same word. */
interface Group {
  readonly word: string;
  readonly commands: () => Promise<readonly ListedCommand[]>;
}

/** The file of a command, what it is exported as, and one line for lists. */
function own<Name extends string>(
  name: string,
  summary: string,
  file: () => Promise<Readonly<Record<Name, Command>>>,
  exported: Name,
): Group {
  const command = { name, summary, load: async () => (await file())[exported] };
  return { word: name.split(' ', 1)[0]!, commands: () => Promise.resolve([command]) };
}

function operations(word: string, file: () => Promise<{ readonly operations: readonly AdminOperation[] }>): Group {
  const listed = (one: AdminOperation): readonly ListedCommand[] => {
    const { command: name, summary } = one;
    return name === undefined ? [] : [{ name, summary, load: async () => (await import('./operation-command.ts')).commandOf(one) }];
  };
  return { word, commands: async () => (await file()).operations.flatMap(listed) };
}

const keyCommands = () => import('./commands/key-commands.ts');
const storeCommands = () => import('./commands/store-commands.ts');
const engineCommands = () => import('./commands/engine-commands.ts');
const apiCommands = () => import('./commands/api-commands.ts');

const GROUPS: readonly Group[] = [
  own('serve', 'Runs the gateway.', () => import('./commands/serve.ts'), 'serve'),
  own('reload', 'Makes the running gateway read its configuration again.', () => import('./commands/reload.ts'), 'reload'),
  own('demo', 'Runs the gateway with a built-in engine, a team and a key, to try it.', () => import('./commands/demo.ts'), 'demo'),
  operations('team', () => import('../admin/operations/teams.ts')),
  operations('team', () => import('../admin/operations/team-changes.ts')),
  operations('key', () => import('../admin/operations/keys.ts')),
  own('key revoke', 'Revokes a key: its next request is refused.', keyCommands, 'keyRevoke'),
  operations('tag', () => import('../admin/operations/tags.ts')),
  operations('glossary', () => import('../admin/operations/glossaries.ts')),
  operations('usage', () => import('../admin/operations/periods.ts')),
  operations('usage', () => import('../admin/operations/usage.ts')),
  operations('invoices', () => import('../admin/operations/invoices.ts')),
  operations('plan', () => import('../admin/operations/plans.ts')),
  own('store backup', 'Copies the SQLite store to a file, while gateways use it.', storeCommands, 'storeBackup'),
  own('store check', 'Checks the store for inconsistent records.', storeCommands, 'storeCheck'),
  own('store copy', 'Copies a store to an empty store of any kind, and compares both.', storeCommands, 'storeCopy'),
  own('store migrate', 'Migrates a store of an older version to this one.', storeCommands, 'storeMigrate'),
  own('store show', 'Shows everything that the store has about a team.', storeCommands, 'storeShow'),
  operations('requests', () => import('../admin/operations/requests.ts')),
  operations('documents', () => import('../admin/operations/documents.ts')),
  operations('audit', () => import('../admin/operations/audit.ts')),
  own('memory clear', 'Deletes cached translations.', keyCommands, 'memoryClear'),
  own('config check', 'Checks the configuration and shows the result.', () => import('./commands/config-check.ts'), 'configCheck'),
  own('engine check', 'Lets each engine replica translate a sentence, and says what is wrong.', engineCommands, 'engineCheck'),
  own('engine route', 'Says which engine a request would use, and why.', engineCommands, 'engineRoute'),
  own('routes', 'Shows the steps of each route, including those of plugins.', apiCommands, 'routes'),
  own('openapi', 'Prints the OpenAPI 3.1 document of the API.', apiCommands, 'openapi'),
];

export const FIRST_WORDS: readonly string[] = [...new Set(GROUPS.map(({ word }) => word))];

/** Those that begin with this word; by default all. */
export async function commandsOf(word?: string): Promise<readonly ListedCommand[]> {
  const groups = GROUPS.filter((group) => word === undefined || group.word === word);
  return (await Promise.all(groups.map(({ commands }) => commands()))).flat();
}
