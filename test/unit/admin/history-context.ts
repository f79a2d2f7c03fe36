// The context of operations that read usage and periods, over a history alone; and all rows of such an operation.
import { OperationContext } from '../../../src/admin/operation-context.ts';
import { checked } from '../../../src/admin/input.ts';
import { allRows } from '../../../src/admin/listing.ts';
import type { AdminOperation } from '../../../src/admin/operation.ts';
import type { TagHistory } from '../../../src/ports/tag-registry.ts';
import type { UsageHistory } from '../../../src/ports/usage-history.ts';
import { AWAY_AUDIT, AWAY_TEAMS } from '../../support/away-store.ts';

const HISTORY_NOW_MS = Date.UTC(2026, 10, 22, 23, 59);

function historyContext(history: UsageHistory, tagHistory?: TagHistory): OperationContext {
  const of = { history, ...(tagHistory === undefined ? {} : { tagHistory }), nowMs: () => HISTORY_NOW_MS };
  return new OperationContext({ ...of, teams: AWAY_TEAMS, plans: () => new Map(), newId: () => 'ID', audit: AWAY_AUDIT });
}

export async function allRowsOf<Row>(one: AdminOperation, history: UsageHistory, given: object): Promise<Row[]> {
  const rows: Row[] = [];
  for await (const part of allRows(one, historyContext(history), checked(one, { ...given }, HISTORY_NOW_MS)))
    rows.push(...(part.rows as readonly Row[]));
  return rows;
}
