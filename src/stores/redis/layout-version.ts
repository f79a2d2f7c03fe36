// The version of the data in Redis: a dataset of another version is refused before anything is written to it.
import { HALF_WRITTEN_LAYOUT, halfWritten, NoStoreError, StoreError } from '../../domain/store-unavailable.ts';
import { LIMIT_NUMBERS } from '../../domain/plan.ts';
import { LAYOUT_KEY, PLAN_NUMBERS_KEY, TEAMS_KEY, teamKey } from './redis-keys.ts';
import type { RedisConnection } from './redis-connection.ts';
import type { StoreCreation } from '../../ports/store.ts';

export const VERSION = '2';

/** Among the plan's numbers: keys of this dataset may have limits, which earlier versions would not hold them to. */
const KEY_LIMITS = 'keyLimits';

/** To be called before a key is given limits. */
export async function markKeyLimits(redis: RedisConnection): Promise<undefined> {
  await redis.sadd(PLAN_NUMBERS_KEY, KEY_LIMITS);
  return undefined;
}

/** Marks a dataset as ours. Throws a `StoreError` when it holds another version's, or what this one would not judge. */
export async function checkLayout(
  redis: RedisConnection,
  shown: string,
  { mayCreate = true, onCreated }: StoreCreation = {},
): Promise<void> {
  const { version, marked } = await readVersion(redis, shown);
  if (version === undefined && !mayCreate) throw new NoStoreError(shown);
  if (!marked) {
    // A full server or a replica refuses the write; its data can be read all the same.
    const set = await redis.set(LAYOUT_KEY, VERSION, 'NX').catch(() => undefined);
    if (version === undefined && set === 'OK') onCreated?.(shown);
  }
  const missing = LIMIT_NUMBERS.length - (await knownNumbers(redis, shown));
  if (missing > 0) await redis.sadd(PLAN_NUMBERS_KEY, ...LIMIT_NUMBERS).catch(() => undefined);
}

/** The same, for whoever only reads. */
export async function assertLayout(redis: RedisConnection, shown: string): Promise<void> {
  const { version } = await readVersion(redis, shown);
  if (version === undefined) throw new NoStoreError(shown);
  await knownNumbers(redis, shown);
}

/** How many of the plan's numbers teams here may have. */
async function knownNumbers(redis: RedisConnection, shown: string): Promise<number> {
  const numbers = await redis.smembers(PLAN_NUMBERS_KEY);
  const strange = numbers.filter((name) => name !== KEY_LIMITS && !LIMIT_NUMBERS.some((known) => known === name));
  if (strange.length === 0) return numbers.filter((name) => name !== KEY_LIMITS).length;
  throw new StoreError(
    `the store ${shown} was written by a newer Lingate (its teams have limits that this one does not know: ${strange.toSorted().join(', ')}): run that version`,
  );
}

/** `undefined` where nothing of ours is. */
async function readVersion(
  redis: RedisConnection,
  shown: string,
): Promise<{ readonly version: string | undefined; readonly marked: boolean }> {
  const mark = await redis.get(LAYOUT_KEY);
  if (mark === HALF_WRITTEN_LAYOUT) throw halfWritten(shown);
  const version = mark ?? (await unmarkedVersion(redis));
  if (version === undefined || version === VERSION) return { version, marked: mark !== null };
  throw new StoreError(
    `the store ${shown} holds data of layout ${version}, and this version reads layout ${VERSION}: run the version that wrote it`,
  );
}

/** Of a dataset without a mark: the first version wrote none, and none is left when a server has lost everything while we ran. */
async function unmarkedVersion(redis: RedisConnection): Promise<string | undefined> {
  const [teamId] = await redis.zrange(TEAMS_KEY, '0', '0');
  if (teamId === undefined) return undefined;
  return (await redis.hexists(teamKey(teamId), 'b')) === 1 ? VERSION : '1';
}
