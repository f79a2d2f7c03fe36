// The parts of a store that are written once, over its record space.
import type { RecordSpace } from '../../ports/record-space.ts';
import { recordGateways, recordSecrets } from './ending-records.ts';
import { recordAudit } from './record-audit.ts';
import { recordEngineUse } from './record-engine-use.ts';
import { recordGlossaries } from './record-glossaries.ts';
import { recordIdempotency } from './record-idempotency.ts';
import { recordOutbox } from './record-outbox.ts';
import { recordTagRegistry, recordTags } from './record-tags.ts';

/**
 * Spread the result into the store. `nowMs` is the store's time, as far as it is known without asking; `historyDays`, how long the
 * audit is retained. A change that has `audit` or an `event` writes what `auditWrites` and `eventWrites` say to the shared records, and
 * now and then somebody calls `audit.prune` and `idempotency.sweep`. The deletion of a team calls `forgetTeam`.
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
