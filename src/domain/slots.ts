// What a request gathers on its way: the slots by which steps hand things to each other, and the numbers that are logged.
import { reserveSlot } from '../core/exchange.ts';
import type { KeyDigest, KeyOwner } from './api-key.ts';
import type { TranslateRequest } from './translate-request.ts';

/** Digest of the key that was sent; its pattern has been checked. */
export const keyDigestSlot = reserveSlot<KeyDigest>('key digest');
/** Whose key it is. */
export const keyOwnerSlot = reserveSlot<KeyOwner>('key owner');
/** The client's address, where it was read because the key is allowed from certain ones. */
export const clientAddressSlot = reserveSlot<string>('client address');
/** The dictionary that the admission found for the glossary of the charge. */
export const dictionaryIdSlot = reserveSlot<string>('dictionary id');
/** The translation that was asked for; steps behind the admission can rely on it. */
export const translateRequestSlot = reserveSlot<TranslateRequest>('translate request');

/** The team's plan, where the admission was asked for it; '' where the store does not tell. */
export const planSlot = reserveSlot<string>('plan');

/** Numbers for the access log and metrics. Durations are in milliseconds. */
export interface RequestStats {
  /** Characters that are charged if the outcome is an answer: those that were reserved, less those that were spared. */
  characters: number;
  /** Whether some of them may be spared: there is a reservation, and the store can charge a part of it. */
  canSpare: boolean;
  storeMs: number;
  engineMs: number;
  attempts: number;
  /** Pieces of work that the engine was given. */
  works: number;
  /** Name of the engine that answered, or was tried last. */
  engine: string | undefined;
}

export const requestStatsSlot = reserveSlot<RequestStats>('request stats');

export function newRequestStats(): RequestStats {
  return { characters: 0, canSpare: false, storeMs: 0, engineMs: 0, attempts: 0, works: 0, engine: undefined };
}
