// What a request gathers on its way: the slots by which steps hand things to each other, and the tally that is logged.
import { reserveSlot } from '../core/exchange.ts';
import type { KeyDigest, KeyOwner } from './api-key.ts';
import type { BodyVerdict, TranslateRequest } from './translate-request.ts';

/** Digest of the key that was sent; its pattern has been checked. */
export const keyDigestSlot = reserveSlot<KeyDigest>('key digest');
/** Whose key it is. */
export const keyOwnerSlot = reserveSlot<KeyOwner>('key owner');
/** The verdict on the body, which the admission reports after its own. */
export const bodyVerdictSlot = reserveSlot<BodyVerdict>('body verdict');
/** The request that was admitted. */
export const translateRequestSlot = reserveSlot<TranslateRequest>('translate request');

/** Numbers for the access log and metrics. Durations are in milliseconds. */
export interface Tally {
  /** Characters that were reserved; charged if the outcome is a 200. */
  characters: number;
  storeMs: number;
  engineMs: number;
  attempts: number;
}

export const tallySlot = reserveSlot<Tally>('tally');

export function newTally(): Tally {
  return { characters: 0, storeMs: 0, engineMs: 0, attempts: 0 };
}
