// The parts of a store that are written once, over its record space.
import type { RecordSpace } from '../../ports/record-space.ts';
import type { Store } from '../../ports/store.ts';
import { RecordGateways, RecordSecrets } from './ending-records.ts';
import { RecordAudit } from './record-audit.ts';
import { RecordEngineUse } from './record-engine-use.ts';
import { RecordGlossaries } from './record-glossaries.ts';
import { RecordIdempotency } from './record-idempotency.ts';
import { RecordTagRegistry } from './record-tag-registry.ts';
import { RecordTags } from './record-tags.ts';

type PartsOverRecords = Pick<
  Store,
  'records' | 'glossaries' | 'gateways' | 'idempotency' | 'secrets' | 'engineUse' | 'tags' | 'tagSettings'
> & { readonly audit: RecordAudit };

/**
 * Spread the result into the store. `nowMs` is the store's time, as far as it is known without asking; `historyDays`, how long the
 * audit is retained. A change that has `audit` keeps what `auditWrites` says in the shared records, and now and then somebody calls
 * `audit.prune`. The deletion of a team calls `forgetTeam`.
 */
export function overRecords(records: RecordSpace, nowMs: () => number | undefined, historyDays?: number): PartsOverRecords {
  return {
    records,
    audit: new RecordAudit(records, nowMs, historyDays),
    glossaries: new RecordGlossaries(records),
    gateways: new RecordGateways(records),
    idempotency: new RecordIdempotency(records, nowMs),
    secrets: new RecordSecrets(records, nowMs),
    engineUse: new RecordEngineUse(records),
    tags: new RecordTags(records),
    tagSettings: new RecordTagRegistry(records),
  };
}
