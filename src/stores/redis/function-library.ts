// The Lua functions as one library: its files in a fixed order, loaded on a server that lacks it, called by name.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Redis } from 'ioredis';
import { causeOf } from './failure-cause.ts';
import { mastersOf } from './redis-connection.ts';
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

export type RunFunction = (name: FunctionName, keys: readonly string[], args: readonly string[]) => Promise<unknown>;

/** The name contains a digest of the text, so that gateways of different versions do not overwrite each other's. */
function functionLibrary(): { readonly name: string; readonly text: string } {
  const body = FILES.map((file) => readFileSync(new URL(`lua/${file}.lua`, import.meta.url), 'utf8')).join('\n');
  const name = `lingate_${createHash('sha256').update(body).digest('hex').slice(0, 12)}`;
  const registered = Object.entries(FUNCTIONS).map(
    ([one, { is, flag }]) =>
      `redis.register_function{ function_name = '${name}_${one}', callback = ${is}, flags = { ${flag === '' ? '' : `'${flag}'`} } }`,
  );
  return { name, text: [`#!lua name=${name}`, body, ...registered].join('\n') };
}

/** How many libraries of other versions stay; more than a rolling upgrade needs. Gateways whose library was deleted reload it. */
const OTHERS_MAX = 8;
const MISSING = /Function not found/;
const EXISTS = /already exists/;

/** The functions on the servers of one connection. */
export class RedisFunctions {
  readonly #connection: RedisConnection;
  readonly #library = functionLibrary();
  #loading: Promise<void> | undefined = undefined;

  constructor(connection: RedisConnection) {
    this.#connection = connection;
  }

  /**
   * Loads the library if the server lacks it: it was emptied, or is a replica that became master before it received the library. The
   * failed call had no effect.
   */
  readonly run: RunFunction = (name, keys, args) => {
    const words = [`${this.#library.name}_${name}`, keys.length, ...keys, ...args] as const;
    return this.#connection.call('FCALL', ...words).catch(async (error: unknown) => {
      if (!(error instanceof Error && MISSING.test(error.message))) throw error;
      await this.load();
      return this.#connection.call('FCALL', ...words);
    });
  };

  /** Loads the library on every master. Rejects with Redis's error if one refuses it. */
  load(): Promise<void> {
    this.#loading ??= Promise.all(mastersOf(this.#connection).map((master) => loadOn(master, this.#library)))
      .then(() => undefined)
      .finally(() => (this.#loading = undefined));
    return this.#loading;
  }
}

async function loadOn(master: Redis, { name, text }: ReturnType<typeof functionLibrary>): Promise<void> {
  try {
    await master.call('FUNCTION', 'LOAD', text);
  } catch (error) {
    if (error instanceof Error && EXISTS.test(error.message)) return;
    throw error;
  }
  await dropOthers(master, name).catch(() => undefined);
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
