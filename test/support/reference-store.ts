// The reference store as a store of the gateway: its own rules (reference/), with what the product writes over the records of any store.
import { auditEntry, auditWrites, deletionEvent, eventNames, eventWrites, forgetTeam, idBefore, overRecords } from 'lingate';
import { reportOf, teamRegistry, teamSummary } from 'lingate';
import type { Clock, Store } from 'lingate';
import { ReferenceData, referenceOver } from './reference/store.ts';
import type { Layers } from './reference/store.ts';

export { ReferenceData } from './reference/store.ts';

const OF_AUDIT = { auditEntry, auditWrites, idBefore };
const OF_TEAMS = { reportOf, teamRegistry, teamSummary, deletionEvent, forgetTeam };
const LAYERS: Layers = { overRecords, eventNames, eventWrites, ...OF_AUDIT, ...OF_TEAMS };
const HISTORY_DAYS = 400;

export function referenceStore(clock: Clock, data = new ReferenceData(), historyDays = HISTORY_DAYS): Store {
  return referenceOver(LAYERS, clock, data, historyDays);
}
