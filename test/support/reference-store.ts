// The reference store as a store of the gateway: its own rules (reference/), with what the product writes over the records of any store.
import { eventNames, eventWrites, outlivesTeam, overRecords } from 'lingate';
import type { Clock, Store } from 'lingate';
import { ReferenceData, referenceOver } from './reference/store.ts';
import type { Layers } from './reference/store.ts';

export { ReferenceData } from './reference/store.ts';

const LAYERS: Layers = { over: overRecords, eventNames, eventWrites, outlivesTeam };
const HISTORY_DAYS = 400;

export function referenceStore(clock: Clock, data = new ReferenceData(), historyDays = HISTORY_DAYS): Store {
  return referenceOver(LAYERS, clock, data, historyDays);
}
