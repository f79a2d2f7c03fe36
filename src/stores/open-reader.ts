// Opens the store that a URL names to read all of its contents, or to write those of another store.
import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { otherSchemeOf, sqlitePathOf, STORE_URL_FORMS, storeKindOf, withoutCredentials } from '../domain/store-url.ts';
import { StoreError } from '../domain/store-unavailable.ts';
import type { WholePluginStore } from '../ports/plugin.ts';
import type { StoreReader, StoreWriter } from '../ports/store-contents.ts';

/** How the stores of plugins are opened, by the scheme of their URLs. */
export type OtherStores = ReadonlyMap<string, (url: string, mayCreate: boolean) => Promise<WholePluginStore>>;
const NO_OTHERS: OtherStores = new Map();

/** Rejects with a `StoreError` if there is nothing to read, or nothing that this version can read. */
export async function openReader(url: string, others = NO_OTHERS): Promise<StoreReader> {
  const kind = storeKindOf(url);
  if (kind === 'sqlite') return (await import('./sqlite/whole-file.ts')).openSqliteReader(sqlitePathOf(url));
  if (kind === 'redis') return (await import('./redis/whole-redis.ts')).openRedisReader(url);
  return (await import('./records/plugin-contents.ts')).pluginReader(await openOther(url, others), withoutCredentials(url));
}

/** The source of a copy; no gateway may use it meanwhile. */
interface CopySource {
  readonly reader: StoreReader;
  /** Rejects with a `StoreError` if a gateway has started to serve from it. */
  stillAlone(): Promise<void>;
}

/** Rejects with a `StoreError` if there is nothing to copy, or if gateways serve from it. */
export async function openSource(url: string, others = NO_OTHERS): Promise<CopySource> {
  const kind = storeKindOf(url);
  if (kind === 'redis') return (await import('./redis/whole-redis.ts')).openRedisSource(url);
  if (kind !== 'sqlite')
    return (await import('./records/plugin-contents.ts')).pluginSource(await openOther(url, others), withoutCredentials(url));
  const { openSqliteSource } = await import('./sqlite/whole-file.ts');
  return { reader: await openSqliteSource(sqlitePathOf(url)), stillAlone: () => Promise.resolve() };
}

/** Rejects with a `StoreError` if it is not empty; `restart` clears what an unfinished copy has left there. */
export async function openWriter(url: string, restart: boolean, others = NO_OTHERS): Promise<StoreWriter> {
  const kind = storeKindOf(url);
  if (kind === 'sqlite') return (await import('./sqlite/whole-file.ts')).openSqliteWriter(sqlitePathOf(url), restart);
  if (kind === 'redis') return (await import('./redis/whole-redis.ts')).openRedisWriter(url, restart);
  return (await import('./records/plugin-contents.ts')).pluginWriter(await openOther(url, others, true), withoutCredentials(url), restart);
}

async function openOther(url: string, others: OtherStores, mayCreate = false): Promise<WholePluginStore> {
  const scheme = otherSchemeOf(url);
  const open = scheme === undefined ? undefined : others.get(scheme);
  if (open !== undefined) return open(url, mayCreate);
  const hint = scheme === undefined ? '' : `; for a plugin's store, the configuration must name the plugin that opens ${scheme}: URLs`;
  throw new StoreError(`the store ${withoutCredentials(url)} cannot be opened: it must be one of ${STORE_URL_FORMS}${hint}`);
}

/** Whether both URLs name the same store, as far as the URLs show. */
export function isSameStore(one: string, other: string): boolean {
  const [kind, otherKind] = [storeKindOf(one), storeKindOf(other)];
  if (kind !== otherKind) return false;
  if (kind !== 'sqlite') return placeOf(one) === placeOf(other);
  const [path, otherPath] = [resolve(sqlitePathOf(one)), resolve(sqlitePathOf(other))];
  if (path === otherPath) return true;
  const [file, otherFile] = [statSync(path, { throwIfNoEntry: false }), statSync(otherPath, { throwIfNoEntry: false })];
  return file !== undefined && otherFile !== undefined && file.ino === otherFile.ino && file.dev === otherFile.dev;
}

/** Normalized: without credentials, with defaults filled in. */
function placeOf(url: string): string {
  const bare = withoutCredentials(url).replace('//***@', '//').replace('rediss:', 'redis:').replace('localhost', '127.0.0.1');
  return bare.replace(/^(redis:\/\/[^/:]+)(?=\/|$)/, '$1:6379').replace(/^(redis:\/\/[^/]+)\/?$/, '$1/0');
}
