// Opens the store that a URL names to read all of its contents, or to write those of another store.
import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { otherSchemeOf, sqlitePathOf, STORE_URL_FORMS, storeKindOf, withoutCredentials } from '../domain/store-url.ts';
import { StoreError } from '../domain/store-unavailable.ts';
import type { WholePluginStore } from '../ports/plugin.ts';
import { wholeReader, wholeSource, wholeTarget } from './whole-store.ts';
import type { CopySource, OpenedWhole, WholeStore } from './whole-store.ts';

/** How the stores of plugins are opened, by the scheme of their URLs. */
export type OtherStores = ReadonlyMap<string, (url: string, mayCreate: boolean) => Promise<WholePluginStore>>;
const NO_OTHERS: OtherStores = new Map();

/** Rejects with a `StoreError` if there is nothing to read, or nothing that this version can read. */
export async function openReader(url: string, others = NO_OTHERS): Promise<WholeStore> {
  return wholeReader(await openWhole(url, others, 'read'));
}

/** Rejects with a `StoreError` if there is nothing to copy, or if gateways serve from it. */
export async function openSource(url: string, others = NO_OTHERS): Promise<CopySource> {
  const opened = await openWhole(url, others, 'copy from');
  if (storeKindOf(url) !== 'sqlite') return wholeSource(opened);
  // Nobody else can open the file.
  return { reader: await wholeReader(opened), stillAlone: () => Promise.resolve() };
}

/** Rejects with a `StoreError` if it is not empty; `restart` clears what an unfinished copy has left there. */
export async function openWriter(url: string, restart: boolean, others = NO_OTHERS): Promise<WholeStore> {
  return wholeTarget(await openWhole(url, others, 'copy to'), restart, storeKindOf(url) === 'sqlite');
}

async function openWhole(url: string, others: OtherStores, use: 'read' | 'copy from' | 'copy to'): Promise<OpenedWhole> {
  const kind = storeKindOf(url);
  const mayCreate = use === 'copy to';
  if (kind === 'redis') return (await import('./redis/whole-redis.ts')).openWholeRedis(url, mayCreate);
  if (kind !== 'sqlite') return { store: await openOther(url, others, mayCreate), shown: withoutCredentials(url) };
  const files = await import('./sqlite/whole-file.ts');
  if (use === 'read') return files.openWholeFile(sqlitePathOf(url));
  return mayCreate ? files.openTargetFile(sqlitePathOf(url)) : files.openSourceFile(sqlitePathOf(url));
}

async function openOther(url: string, others: OtherStores, mayCreate: boolean): Promise<WholePluginStore> {
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
