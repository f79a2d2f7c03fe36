// How a settlement ended, for metrics.
import type { Resolution } from './ledger.ts';

/** The ledger's answer; `abandoned` when the verdict was given up: the lease ended first, or the queue was full. */
export type SettlementResult = Exclude<Resolution['kind'], 'unavailable'> | 'abandoned';
