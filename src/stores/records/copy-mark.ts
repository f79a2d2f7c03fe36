// The mark of a plugin's store into which a copy is not complete: a shared record, which everything that opens the store looks for.
import { SHARED_RECORDS } from '../../domain/shared-records.ts';
import { halfWritten, isUnavailable } from '../../domain/store-unavailable.ts';
import type { GroupChange, RecordName, RecordSpace } from '../../ports/record-space.ts';

const MARK: RecordName = { table: 'copies', id: 'half-written' };

export const MARKED: GroupChange<void> = { result: undefined, put: [{ ...MARK, value: '' }] };
export const UNMARKED: GroupChange<void> = { result: undefined, remove: [MARK] };

/** A store that does not answer is found by whoever uses it. */
export async function isMarked(records: RecordSpace): Promise<boolean> {
  const found = await records.read(SHARED_RECORDS, [MARK]);
  return !isUnavailable(found) && found[0] !== undefined;
}

/** Rejects with a `StoreError` if the store is marked. `shown` contains no credentials. */
export async function assertUnmarked(records: RecordSpace, shown: string): Promise<void> {
  if (await isMarked(records)) throw halfWritten(shown);
}
