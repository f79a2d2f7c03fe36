// What the shared records have of a team that is being deleted.
import { answered, answering } from '../../domain/store-unavailable.ts';
import type { StoreUnavailable } from '../../domain/store-unavailable.ts';
import type { Store } from '../../ports/store.ts';
import { EVENTS, outlivesTeam } from './event-record.ts';
import { RecordGroup } from './json-table.ts';

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
    const shared = new RecordGroup(records);
    const ofTeam = async (table: 'events' | 'reported') =>
      [...(await shared.list(table))].filter(([id]) => id === teamId || id.startsWith(`${teamId} `));
    await shared.writeAll((await ofTeam('reported')).map(([id]) => ({ remove: [{ table: 'reported', id }] as const })));
    // After that: whoever still reports something of the team finds that this has changed.
    const events = (await ofTeam('events')).filter(([, value]) => !outlivesTeam(value, keepUsage));
    await shared.writeAll(events.map(([id, value]) => EVENTS.remove(id, EVENTS.read(value))));
    answered(await idempotency.forgetTeam(teamId));
    answered(await audit.forgetNames(teamId));
    return undefined;
  });
}
