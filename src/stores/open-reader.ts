// Opens the store that a URL names for reading all that is in it.
import { sqlitePathOf, storeKindOf, withoutCredentials } from '../domain/store-url.ts';
import { StoreError } from '../domain/store-unavailable.ts';
import type { StoreReader } from '../ports/store-contents.ts';

/** Rejects with a `StoreError` where there is nothing to read, or nothing that this version reads. */
export async function openReader(url: string): Promise<StoreReader> {
  switch (storeKindOf(url)) {
    case 'sqlite': {
      const { openSqliteReader } = await import('./sqlite/sqlite-reader.ts');
      return openSqliteReader(sqlitePathOf(url));
    }
    case 'redis': {
      const { openRedisReader } = await import('./redis/redis-reader.ts');
      return openRedisReader(url);
    }
    case undefined:
    default:
      throw new StoreError(`the store ${withoutCredentials(url)} is a plugin's: only SQLite and Redis are checked and copied by lingate`);
  }
}
