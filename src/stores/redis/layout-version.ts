// The version of the data in Redis: data of another layout is refused in one line, before anything is written.
import { NoStoreError, StoreError } from '../../domain/store-unavailable.ts';
import type { StoreCreation } from '../../ports/store.ts';
import { LAYOUT_KEY, TEAMS_KEY } from './redis-keys.ts';
import type { RedisConnection } from './redis-connection.ts';

export const LAYOUT = '6';

/** Marks the data as Lingate's. Rejects with a `StoreError` if it is of another layout. */
export async function checkLayout(redis: RedisConnection, shown: string, { mayCreate = true, onCreated }: StoreCreation): Promise<void> {
  const layout = await readLayout(redis, shown);
  if (layout === undefined && !mayCreate) throw new NoStoreError(shown);
  // A full server or a replica refuses the write, but its data can still be read.
  const set = await redis.set(LAYOUT_KEY, LAYOUT, 'NX').catch(() => undefined);
  if (layout === undefined && set === 'OK') onCreated?.(shown);
}

/** `undefined` if there is no data of Lingate's. */
async function readLayout(redis: RedisConnection, shown: string): Promise<string | undefined> {
  const mark = await redis.get(LAYOUT_KEY);
  // A server that has lost the mark and not its teams.
  const layout = mark ?? ((await redis.exists(TEAMS_KEY)) === 1 ? LAYOUT : undefined);
  if (layout === undefined || layout === LAYOUT) return layout;
  throw new StoreError(
    `the store ${shown} holds data of layout ${layout}, and this version reads layout ${LAYOUT}: run the version that wrote it`,
  );
}
