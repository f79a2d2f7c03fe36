// Opens a plugin's store to read or write all of it: for the check, and for both ends of a copy.
import { SHARED_RECORDS } from '../../domain/shared-records.ts';
import { answered, halfWritten, NoStoreError, StoreError } from '../../domain/store-unavailable.ts';
import type { WholePluginStore } from '../../ports/plugin.ts';
import { assertUnmarked, isMarked } from './copy-mark.ts';
import { RecordReader } from './record-reader.ts';
import type { OwnCheck } from './record-reader.ts';
import { COPIED_SHARED_TABLES, isIndex } from './record-tables.ts';
import { RecordWriter } from './record-writer.ts';

/** Gateways say more often that they run (runtime/plan-record.ts). */
const SERVED_WITHIN_MS = 60_000;

/** Closes the store if it cannot be read. `ownCheck`: of the store's kind, besides what is checked of every store. */
export function pluginReader(store: WholePluginStore, shown: string, ownCheck?: OwnCheck): Promise<RecordReader> {
  return closedOnError(store, async () => {
    await assertUnmarked(store.records, shown);
    return new RecordReader(store, ownCheck);
  });
}

export function pluginSource(store: WholePluginStore, shown: string) {
  return closedOnError(store, async () => {
    const reader = new RecordReader(store);
    const beganMs = await reader.nowMs();
    // Also none that has served and stopped meanwhile.
    const stillAlone = async (): Promise<void> => assertAlone(store, shown, (await reader.nowMs()) - beganMs);
    await assertUnmarked(store.records, shown);
    if ((await contentOf(store)) === undefined) throw new NoStoreError(shown);
    await assertAlone(store, shown);
    return { reader, stillAlone };
  });
}

/**
 * Rejects with a `StoreError` if the store is not empty or is in use, or if it is half-written and `restart` is not set. `isLocked`:
 * nobody else can use it.
 */
export function pluginWriter(store: WholePluginStore, shown: string, restart: boolean, isLocked = false): Promise<RecordWriter> {
  return closedOnError(store, async () => {
    const isHalf = await isMarked(store.records);
    if (isHalf && !restart) throw halfWritten(shown);
    if (!isLocked) await assertAlone(store, shown);
    const content = isHalf ? undefined : await contentOf(store);
    if (content !== undefined) throw new StoreError(`the store ${shown} is not empty (it has ${content}): choose an empty store`);
    return RecordWriter.begin(store);
  });
}

/** `sinceMs`: how long the copy has taken. */
async function assertAlone({ gateways }: WholePluginStore, shown: string, sinceMs = 0): Promise<void> {
  const [last] = answered(await gateways.recent(sinceMs + SERVED_WITHIN_MS));
  if (last === undefined) return;
  throw new StoreError(
    `the store ${shown} was in use by a gateway ${sinceMs === 0 ? 'within the last minute' : 'during the copy or the minute before it'} (it runs on ${last.host} with ${last.file}): stop the gateways that use it, and try again a minute later`,
  );
}

/** What it has besides what gateways keep about themselves; `undefined` for nothing. */
async function contentOf({ teams, history, audit, records }: WholePluginStore): Promise<string | undefined> {
  const first = { after: undefined, limit: 1, search: undefined };
  if (answered(await teams.pageTeams(first)).length > 0) return 'teams';
  if (answered(await history.pageDays(first, { from: 1, to: 0 })).length > 0) return 'usage of deleted teams';
  if (answered(await audit.page({ teamId: undefined, after: undefined, sinceMs: undefined, limit: 1 })).length > 0) return 'an audit';
  for (const table of [...COPIED_SHARED_TABLES, 'events'] as const)
    if (!isIndex(table) && answered(await records.list(SHARED_RECORDS, table)).size > 0) return `records of ${table}`;
  return undefined;
}

async function closedOnError<T>(store: WholePluginStore, open: () => Promise<T>): Promise<T> {
  try {
    return await open();
  } catch (error) {
    await store.close();
    throw error;
  }
}
