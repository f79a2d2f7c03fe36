// What operators do with a store as a whole, for the command line.
import type { ReportFinding } from '../ports/store-contents.ts';
import { openReader } from '../stores/open-reader.ts';
import { checkStore } from '../stores/book-check.ts';
import type { CheckCounts } from '../stores/book-check.ts';

export { backUpStore } from '../stores/backup.ts';

/** Rejects with a `StoreError` where the store cannot be read. */
export async function checkStoreAt(url: string, report: ReportFinding, onTeam: (teams: number) => void): Promise<CheckCounts> {
  const reader = await openReader(url);
  try {
    return await checkStore(reader, report, { onTeam });
  } finally {
    await reader.close();
  }
}
