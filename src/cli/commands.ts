// All commands, in the order of help. Listing them loads none of their files; running one loads only its own.
import type { AdminOperation } from '../admin/operation.ts';
import type { Command, ListedCommand } from './command.ts';

/** The file of a command, what it is exported as, and one line for lists. An operation becomes a command when it is loaded. */
function command<Name extends string>(
  name: string,
  summary: string,
  file: () => Promise<Readonly<Record<Name, Command | AdminOperation>>>,
  exported: Name,
): ListedCommand {
  const load = async (): Promise<Command> => {
    const found = (await file())[exported];
    return 'http' in found ? (await import('./operation-command.ts')).commandOf(found) : found;
  };
  return { name, summary, load };
}

const serveFile = () => import('./commands/serve.ts');
const reloadFile = () => import('./commands/reload.ts');
const demoFile = () => import('./commands/demo.ts');
const teamsFile = () => import('../admin/operations/teams.ts');
const keysFile = () => import('../admin/operations/keys.ts');
const keyCommands = () => import('./commands/key-commands.ts');
const tagsFile = () => import('../admin/operations/tags.ts');
const glossariesFile = () => import('../admin/operations/glossaries.ts');
const periodsFile = () => import('../admin/operations/periods.ts');
const usageFile = () => import('../admin/operations/usage.ts');
const invoicesFile = () => import('../admin/operations/invoices.ts');
const plansFile = () => import('../admin/operations/plans.ts');
const storeCommands = () => import('./commands/store-commands.ts');
const requestsFile = () => import('../admin/operations/requests.ts');
const documentsFile = () => import('../admin/operations/documents.ts');
const auditFile = () => import('../admin/operations/audit.ts');
const configCheck = () => import('./commands/config-check.ts');
const engineCommands = () => import('./commands/engine-commands.ts');
const apiCommands = () => import('./commands/api-commands.ts');

export const COMMANDS: readonly ListedCommand[] = [
  command('serve', 'Runs the gateway.', serveFile, 'serve'),
  command('reload', 'Makes the running gateway read its configuration again.', reloadFile, 'reload'),
  command('demo', 'Runs the gateway with a built-in engine, a team and a key, to try it.', demoFile, 'demo'),
  command('team create', 'Creates a team on a plan.', teamsFile, 'createTeam'),
  command('team list', 'Lists teams: all, or those on a plan, near a limit or with a certain name.', teamsFile, 'listTeams'),
  command('team show', 'Shows a team and its limits.', teamsFile, 'showTeam'),
  command('team update', "Changes a team's plan, name or reference, or adds or deducts credit.", teamsFile, 'updateTeam'),
  command('team delete', 'Deletes a team with its keys, glossaries, credit and name.', teamsFile, 'deleteTeam'),
  command('key create', 'Creates a key for a team and shows it, once.', keysFile, 'createKey'),
  command('key list', "Lists a team's keys and when each was last used.", keysFile, 'listKeys'),
  command('key find', 'Finds a key by its first twelve characters, or by the whole key on standard input.', keysFile, 'findKeys'),
  command('key update', "Changes a key's label or limits, disables it, or enables it again.", keysFile, 'updateKey'),
  command('key revoke', 'Revokes a key: its next request is refused.', keyCommands, 'keyRevoke'),
  command('tag set', "Limits or refuses a team's requests that carry a tag.", tagsFile, 'setTag'),
  command('tag list', "Lists a team's tags that have limits, and what they have used.", tagsFile, 'listTags'),
  command('tag delete', 'Removes the limits of a tag.', tagsFile, 'deleteTag'),
  command('glossary list', "Lists a team's glossaries.", glossariesFile, 'listGlossaries'),
  command('glossary delete', 'Deletes a glossary.', glossariesFile, 'deleteGlossary'),
  command('usage', "Shows a team's usage in its current period.", periodsFile, 'teamUsage'),
  command('usage export', 'Exports the usage of teams by day, month or in total, for invoices.', usageFile, 'listUsage'),
  command('usage periods', "Shows a team's periods and the usage in each.", periodsFile, 'listPeriods'),
  command('invoices', 'Lists what the periods that were closed in a month cost.', invoicesFile, 'listInvoices'),
  command('plan apply', "Copies a plan's numbers to all of its teams.", plansFile, 'applyPlan'),
  command('store backup', 'Copies the SQLite store to a file, while gateways use it.', storeCommands, 'storeBackup'),
  command('store check', 'Checks the store for inconsistent records.', storeCommands, 'storeCheck'),
  command('store copy', 'Copies a store to an empty store of any kind, and compares both.', storeCommands, 'storeCopy'),
  command('store migrate', 'Migrates a store of an older version to this one.', storeCommands, 'storeMigrate'),
  command('store show', 'Shows everything that the store has about a team.', storeCommands, 'storeShow'),
  command('requests', 'Says why requests to the running gateway were refused or failed.', requestsFile, 'listRequests'),
  command('documents list', 'Lists the documents of teams, newest first.', documentsFile, 'listDocuments'),
  command('audit list', 'Lists what operators have changed, newest first.', auditFile, 'listAudit'),
  command('memory clear', 'Deletes cached translations.', keyCommands, 'memoryClear'),
  command('config check', 'Checks the configuration and shows the result.', configCheck, 'configCheck'),
  command('engine check', 'Lets each engine replica translate a sentence, and says what is wrong.', engineCommands, 'engineCheck'),
  command('engine route', 'Says which engine a request would use, and why.', engineCommands, 'engineRoute'),
  command('routes', 'Shows the steps of each route, including those of plugins.', apiCommands, 'routes'),
  command('openapi', 'Prints the OpenAPI 3.1 document of the API.', apiCommands, 'openapi'),
];
