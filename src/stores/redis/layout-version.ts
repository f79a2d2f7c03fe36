// The version of the data in Redis: data of another version is rejected before anything is written.
import { HALF_WRITTEN_LAYOUT, halfWritten, NoStoreError, StoreError } from '../../domain/store-unavailable.ts';
import { LIMIT_NUMBERS } from '../../domain/plan.ts';
import { LAYOUT_KEY, PLAN_NUMBERS_KEY, TEAMS_KEY, teamKey } from './redis-keys.ts';
import type { RedisConnection } from './redis-connection.ts';
import type { StoreCreation } from '../../ports/store.ts';

export const VERSION = '5';

/** Marks the data as Lingate's. Throws a `StoreError` if it has another version, or limits that this version does not know. */
export async function checkLayout(redis: RedisConnection, shown: string, { mayCreate = true, onCreated }: StoreCreation): Promise<void> {
  const { version, marked } = await readVersion(redis, shown);
  if (version === undefined && !mayCreate) throw new NoStoreError(shown);
  if (!marked) {
    // A full server or a replica refuses the write, but its data can still be read.
    const set = await redis.set(LAYOUT_KEY, VERSION, 'NX').catch(() => undefined);
    if (version === undefined && set === 'OK') onCreated?.(shown);
  }
  const missing = LIMIT_NUMBERS.length - (await knownNumbers(redis, shown));
  if (missing > 0) await markPlanNumbers(redis).catch(() => undefined);
}

/** Teams may have these numbers from now on. */
export function markPlanNumbers(redis: RedisConnection): Promise<number> {
  return redis.sadd(PLAN_NUMBERS_KEY, ...LIMIT_NUMBERS);
}

/** The same check without writing. */
export async function assertLayout(redis: RedisConnection, shown: string): Promise<void> {
  const { version } = await readVersion(redis, shown);
  if (version === undefined) throw new NoStoreError(shown);
  await knownNumbers(redis, shown);
}

/** How many of the known plan numbers are already marked here. Throws if unknown ones are. */
async function knownNumbers(redis: RedisConnection, shown: string): Promise<number> {
  const numbers = await redis.smembers(PLAN_NUMBERS_KEY);
  const strange = numbers.filter((name) => !LIMIT_NUMBERS.some((known) => known === name));
  if (strange.length === 0) return numbers.length;
  throw new StoreError(
    `the store ${shown} was written by a newer Lingate (its teams have limits that this one does not know: ${strange.toSorted().join(', ')}): run that version`,
  );
}

/** `undefined` if there is no Lingate data. */
async function readVersion(redis: RedisConnection, shown: string): Promise<{ version: string | undefined; marked: boolean }> {
  const mark = await redis.get(LAYOUT_KEY);
  if (mark === HALF_WRITTEN_LAYOUT) throw halfWritten(shown);
  const version = mark ?? (await unmarkedVersion(redis));
  if (version === undefined || version === VERSION) return { version, marked: mark !== null };
  throw new StoreError(
    `the store ${shown} holds data of layout ${version}, and this version reads layout ${VERSION}: run the version that wrote it`,
  );
}

/** For data without a mark: the first version wrote none, and a server that lost all data while Lingate was running has none. */
async function unmarkedVersion(redis: RedisConnection): Promise<string | undefined> {
  const [teamId] = await redis.zrange(TEAMS_KEY, '0', '0');
  if (teamId === undefined) return undefined;
  return (await redis.hexists(teamKey(teamId), 'b')) === 1 ? VERSION : '1';
}
