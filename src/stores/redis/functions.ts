// The Lua operations as a library of Redis functions: assembled from their files, loaded if missing, called by name.
import { createHash } from 'node:crypto';
import type { Redis } from 'ioredis';
import { microAbove } from '../../domain/event-rules.ts';
import type { EventRules } from '../../domain/event-rules.ts';
import { causeOf } from './failure-cause.ts';
import { inOneScope, inOrder, luaFile, readLuaFiles } from './lua-files.ts';
import type { LuaFile, LuaFiles } from './lua-files.ts';
import { luaFormats } from './row-formats.ts';
import { CONSTANTS } from './team-layout.ts';
import { mastersOf } from './redis-connection.ts';
import type { RedisConnection } from './redis-connection.ts';

interface FunctionGroup {
  /** They add its functions to the tables `functions` and `timed`; what they use comes before them (lua-files.ts). */
  readonly files: readonly string[];
  /**
   * By name: whether it may run on a full server, whether it writes nothing, so that it may run on any server, whether its team may have
   * unlisted events afterwards, and the Lua function if it has another name.
   */
  readonly functions: Readonly<
    Record<string, { readonly onFull?: true; readonly onlyReads?: true; readonly keepsEvents?: true; readonly is?: string }>
  >;
}

/**
 * Functions in `timed` have a clock and a deadline as their first arguments: they are called with the time, and not at all after the
 * deadline, which `timed.lua` sees to. Each group is a separate Lua function.
 */
const GROUPS = {
  ledger: {
    files: ['told', 'ledger', 'tend', 'kept', 'timed'],
    functions: {
      ledger: {},
      settle: { is: 'ledger', onFull: true },
      standing: { keepsEvents: true },
      tend: { keepsEvents: true },
      periods: { keepsEvents: true },
      kept_periods: {},
      tend_kept: { onFull: true },
    },
  },
  teams: {
    files: ['teams', 'records', 'erase', 'tag_upkeep', 'timed'],
    functions: {
      create_team: { keepsEvents: true },
      update_team: { keepsEvents: true },
      usage: { keepsEvents: true },
      usage_days: {},
      read_group: { onlyReads: true },
      change_records: {},
      free_records: { is: 'change_records', onFull: true },
      delete_team: { onFull: true, keepsEvents: true },
      drop_tags: { onFull: true },
      erase_keys: { onFull: true },
      erase_some: { onFull: true, keepsEvents: true },
    },
  },
  lists: {
    files: ['search', 'lists'],
    functions: {
      index_team: {},
      unindex_team: { onFull: true },
      find_teams: {},
      put_off: {},
      note_team: { onFull: true },
      lease_outbox: { onFull: true },
      begin_audit: { onFull: true },
    },
  },
} as const satisfies Record<string, FunctionGroup>;

type Groups = typeof GROUPS;
export type FunctionName = { [Group in keyof Groups]: keyof Groups[Group]['functions'] }[keyof Groups];

const FUNCTIONS = Object.values<FunctionGroup>(GROUPS).flatMap(({ functions }) => Object.entries(functions));
/** Functions after which a team may have unlisted events. */
export const KEEP_EVENTS: ReadonlySet<string> = new Set(FUNCTIONS.filter(([, one]) => one.keepsEvents === true).map(([name]) => name));

export interface FunctionArguments {
  readonly keys: readonly string[];
  readonly args: readonly (string | Buffer)[];
}

/** Texts in the reply are buffers. */
export type RunFunction = (name: FunctionName, call: FunctionArguments) => Promise<unknown>;

/** A library's name contains a digest of its text, so that gateways of different versions do not overwrite each other's. */
export interface FunctionLibrary {
  readonly name: string;
  readonly text: string;
}

/** The text contains the rules for events; another gateway may have different rules. Throws `LuaFileError` for wrong statements. */
export function functionLibrary(rules?: EventRules): FunctionLibrary {
  const files = libraryFiles(rules);
  const groups = Object.values<FunctionGroup>(GROUPS).map((group) => ({ ...group, text: textOf(inOrder(files, group.files)) }));
  const name = `lingate_${createHash('sha256').update(JSON.stringify(groups)).digest('hex').slice(0, 12)}`;
  const parts = groups.map(({ text, functions }) => ['do', text, ...registrations(name, functions), 'end'].join('\n'));
  return { name, text: [`#!lua name=${name}`, 'local KEYS, ARGV', ...parts].join('\n') };
}

/** The files of `lua/`, and two made here: `constants`, and `library` with the tables of what can be called. */
export function libraryFiles(rules?: EventRules): LuaFiles {
  const files = readLuaFiles();
  const library = luaFile('library', '--@ gives functions, timed\nlocal functions, timed = {}, {}\n');
  return new Map([...files, ['constants', constantsFile(files, rules)], ['library', library]]);
}

function constantsFile(files: LuaFiles, rules: EventRules | undefined): LuaFile {
  const used = new Set([...files.values()].flatMap(({ uses }) => uses.map(({ name }) => name)));
  const formats = Object.entries(luaFormats()).filter(([name]) => used.has(name));
  const constants = { ...CONSTANTS, ...Object.fromEntries(formats), EVENT_RULES: eventRules(rules) };
  const lines = Object.entries(constants).map(([name, value]) => `local ${name} = ${value}\n`);
  return luaFile('constants', `--@ gives ${Object.keys(constants).join(', ')}\n${lines.join('')}`);
}

/** `redis.call` and most of Lua are not available while a library loads, so the first call creates the functions. */
function textOf(files: readonly LuaFile[]): string {
  return ['local made', 'local function make()', inOneScope(files), 'return functions', 'end'].join('\n');
}

function registrations(library: string, functions: FunctionGroup['functions']): string[] {
  return Object.entries(functions).map(([name, { is = name, onFull, onlyReads }]) =>
    [
      `redis.register_function{ function_name = '${library}_${name}', flags = { ${onFull ? "'allow-oom'" : onlyReads ? "'no-writes'" : ''} }, callback = function(keys, args)`,
      '  KEYS, ARGV, made = keys, args, made or make()',
      `  return made.${is}()`,
      'end }',
    ].join('\n'),
  );
}

/** Without rules no events are stored. */
function eventRules(rules: EventRules | undefined): string {
  if (rules === undefined) return 'nil';
  const credit = rules.creditMinor.map((minor) => `{ '${minor}', ${microAbove(minor)} }`);
  return `{ percents = { ${rules.percents.join(', ')} }, credit = { ${credit.join(', ')} } }`;
}

const WITHOUT_EVENTS = functionLibrary();
/** How many libraries of other versions are kept; more than a rolling upgrade needs. Gateways whose library was deleted reload it. */
const OTHERS_MAX = 8;
const MISSING = /Function not found/;
const EXISTS = /already exists/;

/** The functions on the servers of one connection. */
export class RedisFunctions {
  readonly #connection: RedisConnection;
  #library = WITHOUT_EVENTS;
  #loading: Promise<void> | undefined = undefined;

  constructor(connection: RedisConnection) {
    this.#connection = connection;
  }

  /**
   * Calls a function, and loads the library if the server lacks it: it was emptied, or is a replica that became master before
   * it received the library. The failed call had no effect.
   */
  readonly run: RunFunction = (name, { keys, args }) => {
    const words = [`${this.#library.name}_${name}`, keys.length, ...keys, ...args] as const;
    return this.#connection.callBuffer('FCALL', ...words).catch(async (error: unknown) => {
      if (!(error instanceof Error && MISSING.test(error.message))) throw error;
      await this.load();
      return this.#connection.callBuffer('FCALL', ...words);
    });
  };

  /** Sets the rules for storing events; must be called before anything else. */
  keepEvents(rules: EventRules | undefined): void {
    this.#library = rules === undefined ? WITHOUT_EVENTS : functionLibrary(rules);
  }

  /** Loads the library on every master. Rejects with Redis's error if one refuses it. */
  load(): Promise<void> {
    this.#loading ??= Promise.all(mastersOf(this.#connection).map((master) => loadOn(master, this.#library)))
      .then(() => undefined)
      .finally(() => (this.#loading = undefined));
    return this.#loading;
  }
}

async function loadOn(master: Redis, library: FunctionLibrary): Promise<void> {
  try {
    await master.call('FUNCTION', 'LOAD', library.text);
  } catch (error) {
    if (error instanceof Error && EXISTS.test(error.message)) return;
    throw error;
  }
  await dropOthers(master, library.name).catch(() => undefined);
}

/** Each version that has run here leaves its library. Failures are ignored: not every user may do this, and it is not necessary. */
async function dropOthers(master: Redis, own: string): Promise<void> {
  const listed = (await master.call('FUNCTION', 'LIST', 'LIBRARYNAME', 'lingate_*')) as readonly (readonly unknown[])[];
  const others = listed.map((fields) => String(fields[fields.indexOf('library_name') + 1])).filter((name) => name !== own);
  if (others.length <= OTHERS_MAX) return;
  for (const name of others) await master.call('FUNCTION', 'DELETE', name);
}

/** Whether a server that refuses the library now may accept it later: it is full, a replica, or has lost its replicas. */
export function mayLoadLater(error: unknown): boolean {
  return ['oom', 'readonly', 'noreplicas', 'misconf', 'clusterdown', 'masterdown', 'loading', 'busy'].includes(causeOf(error));
}
