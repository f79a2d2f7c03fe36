// How a settlement ended, for whoever counts it.
import type { Resolution } from './ledger.ts';

/** As the ledger has it; `abandoned` when it was told nothing any more: the lease ended first, or the queue was full. */
export type SettlementResult = Exclude<Resolution['kind'], 'unavailable'> | 'abandoned';
