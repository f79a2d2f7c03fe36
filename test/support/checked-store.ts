// Runs `lingate store check`'s own code on a store, for tests that expect it to find nothing, or a planted fault.
import type { StoreFinding } from '../../src/ports/whole-accounts.ts';
import type { OtherStores } from '../../src/stores/open-reader.ts';
import { checkStore, openWhole } from './door/stores.ts';
import type { CheckCounts } from '../../src/stores/store-check.ts';

export interface Checked {
  readonly counts: CheckCounts;
  readonly findings: readonly StoreFinding[];
}

/** Later than every clock that tests move: a check at this time finds no period that is still to come. */
const FAR_FUTURE_MS = Date.UTC(2099, 0);

/** `settleMs`: how long what looks wrong may take to become right. */
export async function checkedStore(url: string, settleMs = 0, nowMs = FAR_FUTURE_MS, others?: OtherStores): Promise<Checked> {
  const reader = await openWhole(url, 'read', others);
  const findings: StoreFinding[] = [];
  try {
    const counts = await checkStore(reader, (finding) => void findings.push(finding), { settleMs, nowMs });
    return { counts, findings };
  } finally {
    await reader.close();
  }
}
