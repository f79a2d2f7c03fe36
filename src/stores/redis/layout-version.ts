// The version of how things lie in a Redis dataset: what this one does not read is refused before anything is done to it.
import { StoreError } from '../../domain/store-error.ts';
import { LAYOUT_KEY, TEAMS_KEY, teamKey } from './redis-keys.ts';
import type { RedisConnection } from './redis-connection.ts';

const VERSION = '2';

/** Marks a new dataset as ours. Throws a `StoreError` when it holds another version's. */
export async function checkLayout(redis: RedisConnection, shown: string): Promise<void> {
  const marked = await redis.get(LAYOUT_KEY);
  const version = marked ?? (await unmarkedVersion(redis));
  if (marked === VERSION) return;
  if (version !== undefined && version !== VERSION) {
    throw new StoreError(
      `the store ${shown} holds data of layout ${version}, and this version reads layout ${VERSION}: use the version that wrote it, or an empty database`,
    );
  }
  // A full server or a replica refuses it, and serves what it has all the same.
  await redis.set(LAYOUT_KEY, VERSION, 'NX').catch(() => undefined);
}

/** Of a dataset without a mark, as the first version wrote it, or as it is made when a server lost everything while we ran. */
async function unmarkedVersion(redis: RedisConnection): Promise<string | undefined> {
  const [teamId] = await redis.zrange(TEAMS_KEY, '0', '0');
  if (teamId === undefined) return undefined;
  return (await redis.hexists(teamKey(teamId), 'b')) === 1 ? VERSION : '1';
}
