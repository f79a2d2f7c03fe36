// The Lua functions as one library: its files in a fixed order, loaded on a server that lacks it, called by name.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Redis } from 'ioredis';
import { causeOf, mastersOf } from './redis-connection.ts';
import type { RedisConnection } from './redis-connection.ts';

/** Later ones use what earlier ones define. */
const FILES = ['ledger', 'slots', 'windows', 'admit', 'settle', 'change'] as const;

/** By name: the Lua function, and whether a full server runs it, because it frees memory or must not be refused, or writes nothing. */
const FUNCTIONS = {
  turn: { is: 'turn', flag: '' },
  settle: { is: 'turn', flag: 'allow-oom' },
  change: { is: 'change', flag: '' },
  free: { is: 'change', flag: 'allow-oom' },
  read: { is: 'read', flag: 'no-writes' },
  list_team: { is: 'list_team', flag: '' },
} as const;

export type FunctionName = keyof typeof FUNCTIONS;

/** How many libraries of other versions stay; more than a rolling upgrade needs. Gateways whose library was deleted reload it. */
const OTHERS_MAX = 8;
const MISSING = /Function not found/;
const EXISTS = /already exists/;
/** Causes that pass: the server is full, a replica, or has lost its replicas. */
const PASSING = ['oom', 'readonly', 'noreplicas', 'misconf', 'clusterdown', 'masterdown', 'loading', 'busy'];

const body = FILES.map((file) => readFileSync(new URL(`lua/${file}.lua`, import.meta.url), 'utf8')).join('\n');
/** Has a digest of the text, so that gateways of different versions do not overwrite each other's. */
const LIBRARY = `lingate_${createHash('sha256').update(body).digest('hex').slice(0, 12)}`;
const registered = Object.entries(FUNCTIONS).map(
  ([name, { is, flag }]) =>
    `redis.register_function{ function_name = '${LIBRARY}_${name}', callback = ${is}, flags = { ${flag === '' ? '' : `'${flag}'`} } }`,
);
const TEXT = [`#!lua name=${LIBRARY}`, body, ...registered].join('\n');

/** The functions on the servers of one connection. */
export class RedisFunctions {
  readonly #connection: RedisConnection;
  #loading: Promise<unknown> | undefined = undefined;

  constructor(connection: RedisConnection) {
    this.#connection = connection;
  }

  /**
   * Loads the library if the server lacks it: it was emptied, or is a replica that became master before it received the library. The
   * failed call had no effect.
   */
  run(name: FunctionName, keys: readonly string[], args: readonly string[]): Promise<unknown> {
    const words = [`${LIBRARY}_${name}`, keys.length, ...keys, ...args] as const;
    return this.#connection.call('FCALL', ...words).catch(async (error: unknown) => {
      if (!(error instanceof Error && MISSING.test(error.message))) throw error;
      await this.load();
      return this.#connection.call('FCALL', ...words);
    });
  }

  /** On every master. Rejects with Redis's error if one refuses the library. */
  load(): Promise<unknown> {
    this.#loading ??= Promise.all(mastersOf(this.#connection).map(loadOn)).finally(() => (this.#loading = undefined));
    return this.#loading;
  }
}

async function loadOn(master: Redis): Promise<void> {
  try {
    await master.call('FUNCTION', 'LOAD', TEXT);
  } catch (error) {
    if (error instanceof Error && EXISTS.test(error.message)) return;
    throw error;
  }
  await dropOthers(master).catch(() => undefined);
}

/** Each version that has run here leaves its library. Failures are ignored: not every user may do this, and it is not necessary. */
async function dropOthers(master: Redis): Promise<void> {
  const listed = (await master.call('FUNCTION', 'LIST', 'LIBRARYNAME', 'lingate_*')) as readonly (readonly unknown[])[];
  const others = listed.map((fields) => String(fields[fields.indexOf('library_name') + 1])).filter((name) => name !== LIBRARY);
  if (others.length <= OTHERS_MAX) return;
  for (const name of others) await master.call('FUNCTION', 'DELETE', name);
}

/** Whether a server that refuses the library now may accept it later: then the first call loads it. */
export function mayLoadLater(error: unknown): boolean {
  return PASSING.includes(causeOf(error));
}
