// All commands, in the order of help, by their first words: the files of a word are loaded when it is given.
import type { AdminOperation } from '../admin/operation.ts';
import type { Command } from './command.ts';

type Load = () => Promise<readonly Command[]>;

function own(file: () => Promise<{ readonly commands: readonly Command[] }>): Load {
  return async () => (await file()).commands;
}

function operations(file: () => Promise<{ readonly operations: readonly AdminOperation[] }>): Load {
  return async () => {
    const { commandOf } = await import('./operation-command.ts');
    return (await file()).operations.flatMap((one) => (one.command === undefined ? [] : [commandOf(one, one.command)]));
  };
}

const keyCommands = own(() => import('./commands/key-commands.ts'));

/** Of the commands of a file those that begin with the word. */
const GROUPS: readonly (readonly [word: string, load: Load])[] = [
  ['serve', own(() => import('./commands/serve.ts'))],
  ['reload', own(() => import('./commands/reload.ts'))],
  ['demo', own(() => import('./commands/demo.ts'))],
  ['team', operations(() => import('../admin/operations/teams.ts'))],
  ['team', operations(() => import('../admin/operations/team-changes.ts'))],
  ['key', operations(() => import('../admin/operations/keys.ts'))],
  ['key', keyCommands],
  ['tag', operations(() => import('../admin/operations/tags.ts'))],
  ['glossary', operations(() => import('../admin/operations/glossaries.ts'))],
  ['usage', operations(() => import('../admin/operations/periods.ts'))],
  ['usage', operations(() => import('../admin/operations/usage.ts'))],
  ['invoices', operations(() => import('../admin/operations/invoices.ts'))],
  ['plan', operations(() => import('../admin/operations/plans.ts'))],
  ['store', own(() => import('./commands/store-commands.ts'))],
  ['requests', operations(() => import('../admin/operations/requests.ts'))],
  ['documents', operations(() => import('../admin/operations/documents.ts'))],
  ['audit', operations(() => import('../admin/operations/audit.ts'))],
  ['memory', keyCommands],
  ['config', own(() => import('./commands/config-check.ts'))],
  ['engine', own(() => import('./commands/engine-commands.ts'))],
  ['routes', own(() => import('./commands/api-commands.ts'))],
  ['openapi', own(() => import('./commands/api-commands.ts'))],
];

export const FIRST_WORDS: readonly string[] = [...new Set(GROUPS.map(([word]) => word))];

/** Those that begin with this word; by default all. */
export async function commandsOf(word?: string): Promise<readonly Command[]> {
  const groups = GROUPS.filter(([first]) => word === undefined || first === word);
  const loaded = await Promise.all(groups.map(([, load]) => load()));
  return loaded.flatMap((commands, index) => commands.filter(({ name }) => name.split(' ', 1)[0] === groups[index]![0]));
}
