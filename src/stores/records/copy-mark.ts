// The mark of a store into which a copy is not complete: a shared record, which everything that opens the store looks for.
import { answering, halfWritten, StoreAwayError, storeErrorOf } from '../../domain/store-unavailable.ts';
import type { RecordName, RecordSpace } from '../../ports/record-space.ts';
import { RecordGroup } from './json-table.ts';
import type { Writes } from './json-table.ts';

const MARK: RecordName = { table: 'copies', id: 'half-written' };

export const MARKED: Writes = { put: [{ ...MARK, value: '' }] };
export const UNMARKED: Writes = { remove: [MARK] };

/** Rejects if the store does not answer. */
export async function isMarked(records: RecordSpace): Promise<boolean> {
  return (await new RecordGroup(records).read([MARK]))[0] !== undefined;
}

/** Rejects with a `StoreError` if the store is marked. `shown` contains no credentials. */
export async function assertUnmarked(records: RecordSpace, shown: string): Promise<void> {
  if (await isMarked(records)) throw halfWritten(shown);
}

/** The same for who is about to serve from it: a store that does not answer may be waited for. */
export async function assertComplete(records: RecordSpace, shown: string): Promise<void> {
  const away = await answering(() => assertUnmarked(records, shown));
  if (away !== undefined) throw new StoreAwayError(storeErrorOf(away).message);
}
