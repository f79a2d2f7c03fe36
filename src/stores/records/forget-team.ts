// What the shared records have of a team that is being deleted.
import { SHARED_RECORDS } from '../../domain/shared-records.ts';
import { answered, answering } from '../../domain/store-unavailable.ts';
import type { StoreUnavailable } from '../../domain/store-unavailable.ts';
import type { Store } from '../../ports/store.ts';
import { dueEntry, outlivesTeam, readEvent } from './event-record.ts';

/** Records that are removed at a time. */
const PIECE = 200;

/**
 * Removes its events, but for those without names, what gateways have noticed of it, and answers to requests that name it; strips
 * names from its audit. Called once the team does not exist, and again after an interruption.
 */
export function forgetTeam(
  teamId: string,
  keepUsage: boolean,
  { records, audit, idempotency }: Pick<Store, 'records' | 'audit' | 'idempotency'>,
): Promise<StoreUnavailable | undefined> {
  return answering(async () => {
    for (const table of ['events', 'reported'] as const) {
      const found = answered(await records.list(SHARED_RECORDS, table));
      const ofTeam = [...found].filter(([id]) => id === teamId || id.startsWith(`${teamId} `));
      const gone = table === 'reported' ? ofTeam : ofTeam.filter(([, value]) => !outlivesTeam(value, keepUsage));
      for (let at = 0; at < gone.length; at += PIECE) {
        const some = gone.slice(at, at + PIECE);
        const remove = some.map(([id]) => ({ table, id }));
        const unindex = table === 'reported' ? [] : some.map(([id, value]) => dueEntry({ table, id }, readEvent(value)));
        answered(await records.change(SHARED_RECORDS, [], () => ({ result: true, remove, unindex })));
      }
    }
    answered((await idempotency.forgetTeam(teamId)) ?? true);
    answered((await audit.forgetNames(teamId)) ?? true);
    return undefined;
  });
}
