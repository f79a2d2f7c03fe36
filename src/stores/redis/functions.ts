// The Lua operations as a library of Redis functions: assembled from their files, loaded if missing, called by name.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Redis } from 'ioredis';
import { microAbove } from '../../domain/event-rules.ts';
import type { EventRules } from '../../domain/event-rules.ts';
import { causeOf } from './failure-cause.ts';
import { CONSTANTS, TABLES_CONSTANT } from './team-layout.ts';
import { mastersOf } from './redis-connection.ts';
import type { RedisConnection } from './redis-connection.ts';

interface FunctionGroup {
  /** Only these functions have them: each costs a local variable. */
  readonly constants?: string;
  /** In order: a file uses what the files before it define. */
  readonly shared: readonly string[];
  /** Each is a block: only what it adds to `functions` and `timed` is visible outside. */
  readonly files: readonly string[];
  /** By name: whether it may run on a full server, whether its team may have unlisted events afterwards, and the Lua function if it has another name. */
  readonly functions: Readonly<Record<string, { readonly onFull?: true; readonly keepsEvents?: true; readonly is?: string }>>;
}

const TEAM = ['shared', 'layout', 'plan', 'outbox', 'team'] as const;

/**
 * Files add what can be called to two tables. Functions in `timed` have a clock and a deadline as their first arguments: they are
 * called with the time, and not at all after the deadline. A Lua function may have at most 200 local variables at a time, which is
 * why each group is a separate function; the variables of a block no longer count when it has ended.
 */
const GROUPS = {
  ledger: {
    shared: [...TEAM, 'days', 'call', 'state', 'guards', 'window', 'expiry', 'account', 'admit', 'resolve'],
    files: ['ledger', 'tend', 'kept'],
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
    constants: TABLES_CONSTANT,
    shared: [...TEAM, 'audit'],
    files: ['teams', 'keys', 'records', 'erase'],
    functions: {
      create_team: { keepsEvents: true },
      update_team: { keepsEvents: true },
      usage: { keepsEvents: true },
      usage_days: {},
      create_key: { keepsEvents: true },
      update_key: { onFull: true, keepsEvents: true },
      revoke_key: { onFull: true, keepsEvents: true },
      change_records: {},
      free_records: { is: 'change_records', onFull: true },
      delete_team: { onFull: true, keepsEvents: true },
      erase_keys: { onFull: true },
      erase_some: { onFull: true, keepsEvents: true },
    },
  },
  lists: {
    shared: ['shared'],
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
  requests: {
    shared: ['shared'],
    files: ['requests'],
    functions: {
      claim_request: {},
      finish_request: { onFull: true },
      release_request: { onFull: true },
      forget_requests: { onFull: true },
      sweep_requests: { onFull: true },
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

/** The text contains the rules for events; another gateway may have different rules. */
export function functionLibrary(rules?: EventRules): FunctionLibrary {
  const groups = Object.values<FunctionGroup>(GROUPS).map((group) => ({ ...group, text: textOf(group, eventConstants(rules)) }));
  const name = `lingate_${createHash('sha256').update(JSON.stringify(groups)).digest('hex').slice(0, 12)}`;
  const parts = groups.map(({ text, functions }) => ['do', text, ...registrations(name, functions), 'end'].join('\n'));
  return { name, text: [`#!lua name=${name}`, 'local KEYS, ARGV', ...parts].join('\n') };
}

/** Adds the functions of `timed` to `functions`. */
const TIMED = `for name, work in pairs(timed) do
  functions[name] = function()
    local now, late = read_clock()
    return late and { now, 'late' } or work(now)
  end
end
return functions`;

/** `redis.call` and most of Lua are not available while a library loads, so the first call creates the functions. */
function textOf({ constants: own = '', shared, files }: FunctionGroup, constants: string): string {
  const blocks = files.map((file) => `do\n${sourceOf(file)}end`);
  const tables = 'local functions, timed = {}, {}';
  return ['local made', 'local function make()', CONSTANTS, own, constants, tables, ...shared.map(sourceOf), ...blocks, TIMED, 'end'].join(
    '\n',
  );
}

function sourceOf(file: string): string {
  return readFileSync(new URL(`lua/${file}.lua`, import.meta.url), 'utf8');
}

function registrations(library: string, functions: FunctionGroup['functions']): string[] {
  return Object.entries(functions).map(([name, { is = name, onFull }]) =>
    [
      `redis.register_function{ function_name = '${library}_${name}', flags = { ${onFull ? "'allow-oom'" : ''} }, callback = function(keys, args)`,
      '  KEYS, ARGV, made = keys, args, made or make()',
      `  return made.${is}()`,
      'end }',
    ].join('\n'),
  );
}

/** Without rules no events are stored. */
function eventConstants(rules: EventRules | undefined): string {
  if (rules === undefined) return 'local events = { kept = false }';
  const credit = rules.creditMinor.map((minor) => `{ '${minor}', ${microAbove(minor)} }`);
  return `local events = { kept = false, rules = { percents = { ${rules.percents.join(', ')} }, credit = { ${credit.join(', ')} } } }`;
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
