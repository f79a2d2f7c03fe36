// The Lua operations: read from their files at boot, each put together with the parts that it stands on.
import { readFileSync } from 'node:fs';
import { RATE_WINDOW_MS, REMEMBER_MS } from '../../domain/reservation.ts';
import type { RedisConnection } from './redis-connection.ts';

const BOOKS = ['shared', 'period', 'books', 'books-writing'] as const;

/** Each operation's files in order; its function has its name. `keys` is how many KEYS it takes; `undefined` when calls say so. */
const SCRIPTS = {
  ledger: { files: [...BOOKS, 'window', 'account', 'admit', 'resolve', 'ledger'], keys: undefined },
  create_team: { files: [...BOOKS, 'teams'], keys: 5 },
  update_team: { files: [...BOOKS, 'teams'], keys: 5 },
  survey: { files: [...BOOKS, 'teams'], keys: 5 },
  create_key: { files: ['shared', 'keys'], keys: 2 },
  revoke_key: { files: ['shared', 'keys'], keys: 2 },
  create_glossary: { files: ['shared', 'glossaries'], keys: 4 },
  remove_glossary: { files: ['shared', 'glossaries'], keys: 4 },
  index_team: { files: ['shared', 'index-team'], keys: 1 },
} as const;

export type ScriptName = keyof typeof SCRIPTS;

/** Of a script whose number of keys varies, that number comes first. */
export type RunScript = (name: ScriptName, keysAndArgs: readonly string[]) => Promise<unknown>;

/** The whole text of an operation's script. */
export function scriptText(name: ScriptName): string {
  const constants = `local RATE_WINDOW_MS, REMEMBER_MS = ${RATE_WINDOW_MS}, ${REMEMBER_MS}`;
  const parts = SCRIPTS[name].files.map((file) => readFileSync(new URL(`lua/${file}.lua`, import.meta.url), 'utf8'));
  return [constants, ...parts, `return ${name}()`].join('\n');
}

/** Teaches the connection all operations. The library sends a script's text by itself where a server does not have it. */
export function defineScripts(connection: RedisConnection): RunScript {
  const names = Object.keys(SCRIPTS) as ScriptName[];
  for (const name of names) {
    const { keys } = SCRIPTS[name];
    connection.defineCommand(commandOf(name), { lua: scriptText(name), ...(keys === undefined ? {} : { numberOfKeys: keys }) });
  }
  const commands = connection as unknown as Readonly<Record<string, (...keysAndArgs: readonly string[]) => Promise<unknown>>>;
  return (name, keysAndArgs) => {
    const command = commands[commandOf(name)];
    if (command === undefined) throw new Error(`script ${name} is not defined`);
    return command.apply(connection, [...keysAndArgs]);
  };
}

function commandOf(name: ScriptName): string {
  return `lingate_${name}`;
}
