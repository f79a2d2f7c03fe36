// The Lua operations: read from their files at boot, each put together with the parts that it uses.
import { readFileSync } from 'node:fs';
import { joinLua } from './lua-text.ts';
import { CONSTANTS } from './team-layout.ts';
import type { RedisConnection } from './redis-connection.ts';

const SHARED = ['shared', 'arguments', 'layout'] as const;
const TEAM = ['plan', 'team'] as const;
const BOOKS = [...TEAM, 'places', 'records', 'reservations', 'expiry', 'ids', 'account'] as const;

interface ScriptFiles {
  readonly files: readonly string[];
  /** Files that are needed seldom: their functions are made when `general` is first called. The parts that they use are listed
   * again, because a function in Lua may refer to at most 60 outer variables. */
  readonly onDemand?: readonly string[];
}

/** Each operation's files in order; its function has its name. */
const SCRIPTS = {
  ledger: {
    files: ['shared', 'layout', 'window', 'plan', 'call', 'fast', 'ledger'],
    onDemand: [...SHARED, 'window', ...BOOKS, 'answers', 'admit', 'resolve', 'general'],
  },
  standing: { files: [...SHARED, 'window', ...BOOKS, 'standing'] },
  create_team: { files: [...SHARED, ...TEAM, 'teams'] },
  update_team: { files: [...SHARED, ...TEAM, 'teams'] },
  usage: { files: [...SHARED, ...TEAM, 'teams'] },
  create_key: { files: [...SHARED, 'keys'] },
  revoke_key: { files: [...SHARED, 'keys'] },
  create_glossary: { files: [...SHARED, ...TEAM, 'glossaries'] },
  change_glossary: { files: [...SHARED, ...TEAM, 'glossaries'] },
  remove_glossary: { files: [...SHARED, ...TEAM, 'glossaries'] },
  count_glossaries: { files: [...SHARED, ...TEAM, 'glossaries'] },
  index_team: { files: ['shared', 'arguments', 'search-lines', 'index-team'] },
  find_teams: { files: ['shared', 'arguments', 'search-lines', 'find-teams'] },
} as const satisfies Record<string, ScriptFiles>;

export type ScriptName = keyof typeof SCRIPTS;

export interface ScriptArguments {
  readonly keys: readonly string[];
  readonly args: readonly (string | Buffer)[];
}

/** Texts in the reply are buffers. */
export type RunScript = (name: ScriptName, call: ScriptArguments) => Promise<unknown>;

/**
 * Which way the ledger's script takes. In production `fast`: the fast way, and the general one where that gives up. The others
 * are for tests: the general way alone, and a random choice at every branch between them, so that each is taken now and then.
 */
export type LedgerWay = 'fast' | 'general' | 'tossed';

const WAYS: Readonly<Record<LedgerWay, string>> = {
  fast: 'local FAST, TOSS = true, false',
  general: 'local FAST, TOSS = false, false',
  // Redis seeds Lua's random numbers alike for every call: without the clock each call would choose the same.
  tossed:
    "math.randomseed(tonumber(redis.call('TIME')[2])) math.random()\nlocal FAST, TOSS = true, function() return math.random() < 0.5 end",
};

/** The whole text of an operation's script. */
export function scriptText(name: ScriptName, way: LedgerWay = 'fast'): string {
  const { files, onDemand }: ScriptFiles = SCRIPTS[name];
  const parts = files.map(textOf);
  // Redis makes all functions of a script anew each time it runs: these are made only when they are needed.
  if (onDemand !== undefined)
    parts.splice(-1, 0, `local function make_general()\n${onDemand.map(textOf).join('\n')}\nreturn general, after_failure\nend`);
  return joinLua([CONSTANTS, WAYS[way], ...parts, `return ${name}()`]);
}

function textOf(file: string): string {
  return readFileSync(new URL(`lua/${file}.lua`, import.meta.url), 'utf8');
}

/** Defines all operations on the connection. ioredis sends a script's text by itself if the server does not have it. */
export function defineScripts(connection: RedisConnection, way: LedgerWay = 'fast'): RunScript {
  for (const name of Object.keys(SCRIPTS) as ScriptName[]) connection.defineCommand(commandOf(name), { lua: scriptText(name, way) });
  const commands = connection as unknown as Readonly<
    Record<string, (...keysAndArgs: readonly (number | string | Buffer)[]) => Promise<unknown>>
  >;
  return (name, { keys, args }) => {
    const command = commands[`${commandOf(name)}Buffer`];
    if (command === undefined) throw new Error(`script ${name} is not defined`);
    return command.call(connection, keys.length, ...keys, ...args);
  };
}

function commandOf(name: ScriptName): string {
  return `lingate_${name}`;
}
