// Both of the project's stores for the tests of a file: a database and a redis-server, which are closed and removed after them.
import { afterAll } from 'vitest';
import type { EventRules } from '../../src/domain/event-rules.ts';
import type { Clock } from '../../src/ports/clock.ts';
import type { Store } from '../../src/ports/store.ts';
import { openBy, storePlace } from './store-place.ts';

export interface StoreKind {
  readonly name: 'SQLite' | 'Redis';
  readonly url: string;
  /** Another instance with each call, on the same backing; it is closed after the tests. */
  readonly open: (clock: Clock, events?: EventRules) => Promise<Store>;
}

interface StoresOfFile {
  readonly directory: string;
  readonly kinds: readonly StoreKind[];
}

/** Call it once in a file, before its tests. */
export async function storesOfFile(): Promise<StoresOfFile> {
  const [file, server] = [await storePlace('sqlite'), await storePlace('redis')];
  const opened: Store[] = [];
  afterAll(async () => {
    for (const store of opened) await store.close();
    for (const place of [file, server]) await place.remove();
  });
  const kind = (name: StoreKind['name'], { url }: { readonly url: string }): StoreKind => ({
    name,
    url,
    async open(clock, events) {
      const store = await openBy(clock, url, { durability: 'normal', events });
      opened.push(store);
      return store;
    },
  });
  return { directory: file.folder, kinds: [kind('SQLite', file), kind('Redis', server)] };
}
