// Runs `lingate store check`'s own code on a store, for tests that expect it to find nothing, or a planted fault.
import type { StoreFinding } from '../../src/ports/store-contents.ts';
import { openReader } from '../../src/stores/open-reader.ts';
import { checkStore } from '../../src/stores/store-check.ts';
import type { CheckCounts } from '../../src/stores/store-check.ts';

export interface Checked {
  readonly counts: CheckCounts;
  readonly findings: readonly StoreFinding[];
}

/** `settleMs`: how long what looks wrong may take to become right. */
export async function checkedStore(url: string, settleMs = 0): Promise<Checked> {
  const findings: StoreFinding[] = [];
  const reader = await openReader(url);
  try {
    const counts = await checkStore(reader, (finding) => void findings.push(finding), { settleMs });
    return { counts, findings };
  } finally {
    await reader.close();
  }
}
