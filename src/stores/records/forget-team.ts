// What the shared records have of a team that is being deleted.
import { SHARED_RECORDS } from '../../domain/shared-records.ts';
import { answered, answering } from '../../domain/store-unavailable.ts';
import type { StoreUnavailable } from '../../domain/store-unavailable.ts';
import type { Store } from '../../ports/store.ts';
import { EVENTS, outlivesTeam } from './event-record.ts';
import { writeInPieces } from './json-table.ts';

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
    const ofTeam = async (table: 'events' | 'reported') =>
      [...answered(await records.list(SHARED_RECORDS, table))].filter(([id]) => id === teamId || id.startsWith(`${teamId} `));
    const reported = await ofTeam('reported');
    await writeInPieces(
      records,
      reported.map(([id]) => ({ remove: [{ table: 'reported', id }] as const })),
    );
    // After that: whoever still reports something of the team finds that this has changed.
    const events = (await ofTeam('events')).filter(([, value]) => !outlivesTeam(value, keepUsage));
    await writeInPieces(
      records,
      events.map(([id, value]) => EVENTS.remove(id, EVENTS.read(value))),
    );
    answered((await idempotency.forgetTeam(teamId)) ?? true);
    answered((await audit.forgetNames(teamId)) ?? true);
    return undefined;
  });
}
