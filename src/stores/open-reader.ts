// Opens the store that a URL names to read all of its contents, or to write those of another one; or backs it up.
import { resolve } from 'node:path';
import { otherSchemeOf, sqlitePathOf, STORE_URL_FORMS, storeKindOf, withoutCredentials } from '../domain/store-url.ts';
import { NoStoreError, StoreError } from '../domain/store-unavailable.ts';
import type { WholePluginStore } from '../ports/plugin.ts';
import { fileAt } from './sqlite/store-fault.ts';
import { openedFor } from './whole-store.ts';
import type { OpenedWhole, WholeStore, WholeUse } from './whole-store.ts';

/** How the stores of plugins are opened, by the scheme of their URLs. */
export type OtherStores = ReadonlyMap<string, (url: string, mayCreate: boolean) => Promise<WholePluginStore>>;
const NO_OTHERS: OtherStores = new Map();

/** Rejects with a `StoreError` if it cannot be used so (`openedFor`); `restart` clears what an unfinished copy has left in a target. */
export async function openWhole(url: string, use: WholeUse, others = NO_OTHERS, restart = false): Promise<WholeStore> {
  return openedFor(use, await opened(url, use, others), restart);
}

async function opened(url: string, use: WholeUse, others: OtherStores): Promise<OpenedWhole> {
  const kind = storeKindOf(url);
  if (kind === 'redis') return (await import('./redis/whole-redis.ts')).openWholeRedis(url, use === 'copy to');
  if (kind === 'sqlite') return (await import('./sqlite/whole-file.ts')).openWholeFile(sqlitePathOf(url), use);
  const [scheme, shown] = [otherSchemeOf(url), withoutCredentials(url)];
  const open = others.get(scheme ?? '');
  if (open !== undefined) return { store: await open(url, use === 'copy to'), shown };
  const hint = scheme === undefined ? '' : `; for a plugin's store, the configuration must name the plugin that opens ${scheme}: URLs`;
  throw new StoreError(`the store ${shown} cannot be opened: it must be one of ${STORE_URL_FORMS}${hint}`);
}

/** Whether both URLs name the same store, as far as the URLs show. */
export function isSameStore(one: string, other: string): boolean {
  const [kind, otherKind] = [storeKindOf(one), storeKindOf(other)];
  if (kind !== otherKind) return false;
  if (kind !== 'sqlite') return placeOf(one) === placeOf(other);
  const [path, otherPath] = [resolve(sqlitePathOf(one)), resolve(sqlitePathOf(other))];
  if (path === otherPath) return true;
  const [file, otherFile] = [fileAt(path), fileAt(otherPath)];
  return file !== undefined && otherFile !== undefined && file.ino === otherFile.ino && file.dev === otherFile.dev;
}

/** Normalized: without credentials, with defaults filled in. */
function placeOf(url: string): string {
  const bare = withoutCredentials(url).replace('//***@', '//').replace('rediss:', 'redis:').replace('localhost', '127.0.0.1');
  return bare.replace(/^(redis:\/\/[^/:]+)(?=\/|$)/, '$1:6379').replace(/^(redis:\/\/[^/]+)\/?$/, '$1/0');
}

/** The backup that was written. */
interface StoreBackup {
  /** Absolute path. */
  readonly file: string;
  readonly bytes: number;
}

/** Rejects with a `StoreError` if there is nothing to back up, or if this kind of store is backed up by other means. */
export async function backUpStore(url: string, file: string): Promise<StoreBackup> {
  const kind = storeKindOf(url);
  if (kind !== 'sqlite') {
    const means =
      kind === 'redis'
        ? 'Redis itself: copy its snapshot (BGSAVE) or its append-only files, as config/manual/keeping-data.md says'
        : 'its own means';
    throw new StoreError(`the store ${withoutCredentials(url)} is backed up by ${means}; only SQLite files are backed up by this command.`);
  }
  const { backUp } = await import('./sqlite/file-copy.ts');
  const path = sqlitePathOf(url);
  if (fileAt(path) === undefined) throw new NoStoreError(`${url} (${resolve(path)})`);
  return { file: resolve(file), bytes: await backUp(path, resolve(file)) };
}
