// Backs up the store that a URL names, while gateways serve it.
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { sqlitePathOf, storeKindOf, withoutCredentials } from '../domain/store-url.ts';
import { NoStoreError, StoreError } from '../domain/store-unavailable.ts';

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
  const location = resolve(sqlitePathOf(url));
  if (!existsSync(location)) throw new NoStoreError(`${url} (${location})`);
  return { file: resolve(file), bytes: await backUp(sqlitePathOf(url), resolve(file)) };
}
