// The parts of a store that are written once, over its record space, and what of a team that is being deleted is in shared records.
import { answered, answering } from '../../domain/store-unavailable.ts';
import type { StoreUnavailable } from '../../domain/store-unavailable.ts';
import type { RecordSpace } from '../../ports/record-space.ts';
import type { Store } from '../../ports/store.ts';
import { recordGateways, recordSecrets } from './ending-records.ts';
import { EVENTS, outlivesTeam } from './event-record.ts';
import { RecordGroup } from './json-table.ts';
import { recordAudit } from './record-audit.ts';
import { recordEngineUse } from './record-engine-use.ts';
import { recordGlossaries } from './record-glossaries.ts';
import { recordIdempotency } from './record-idempotency.ts';
import { recordOutbox } from './record-outbox.ts';
import { recordTagRegistry, recordTags } from './record-tags.ts';

/**
 * Spread the result into the store. `nowMs` is the store's time, as far as it is known without asking; `historyDays`, how long the
 * audit is retained. A change that has `audit` or an `event` writes what `auditWrites` and `eventWrites` say to the shared records, and
 * now and then somebody calls `audit.prune`, `idempotency.sweep` and `pruneTags`. The deletion of a team calls `forgetTeam`.
 */
export function overRecords(records: RecordSpace, nowMs: () => number | undefined, historyDays?: number) {
  return {
    records,
    audit: recordAudit(records, nowMs, historyDays),
    glossaries: recordGlossaries(records),
    gateways: recordGateways(records),
    idempotency: recordIdempotency(records, nowMs),
    secrets: recordSecrets(records, nowMs),
    engineUse: recordEngineUse(records),
    outbox: recordOutbox(records),
    tags: recordTags(records),
    tagSettings: recordTagRegistry(records),
  };
}

/**
 * Removes a deleted team's events, but for those without names, what gateways have noticed of it, and answers to requests that name it;
 * strips names from its audit. Called once the team does not exist, and again after an interruption.
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
