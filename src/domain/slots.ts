// What a request collects on its way: the slots through which steps pass data, and the numbers that are logged.
import { reserveSlot } from '../core/exchange.ts';
import type { KeyDigest, KeyOwner } from './api-key.ts';
import type { NamedTag, RequestTag } from './request-tag.ts';
import type { RequestTrace } from './request-trace.ts';
import type { TranslateRequest } from './translate-request.ts';

/** Digest of the key that was sent; its pattern has been checked. */
export const keyDigestSlot = reserveSlot<KeyDigest>('key digest');
/** Owner of the key. */
export const keyOwnerSlot = reserveSlot<KeyOwner>('key owner');
/** The client's address, set only if the key is restricted to certain addresses. */
export const clientAddressSlot = reserveSlot<string>('client address');
/** The scope that the route needs, set only if the key has scopes. */
export const neededScopeSlot = reserveSlot<string>('needed scope');
/** The dictionary that the admission found for the charge's glossary. */
export const dictionaryIdSlot = reserveSlot<string>('dictionary id');
/** The requested translation; steps after the admission can rely on it. */
export const translateRequestSlot = reserveSlot<TranslateRequest>('translate request');

/** The team's plan, if the admission was asked to report it; '' if the store does not report it. */
export const planSlot = reserveSlot<string>('plan');

/** The request's tag in the vendor's own form, set by the fronts that have one; `Lingate-Tag` comes before it. */
export const tagSlot = reserveSlot<NamedTag>('tag');

/** The tag of a request that has reserved characters: what its charge is counted under. */
export const requestTagSlot = reserveSlot<RequestTag>('request tag');

/** The request's trace; set only if it is sampled. */
export const traceSlot = reserveSlot<RequestTrace>('trace');

/** Numbers for the access log and metrics. Durations are in milliseconds. */
export interface RequestStats {
  /** Characters to charge if the outcome is an answer: those reserved, less those spared. */
  characters: number;
  /** Whether some of them may be spared: there is a reservation. */
  canSpare: boolean;
  storeMs: number;
  engineMs: number;
  attempts: number;
  /** Pieces of work sent to the engine. */
  works: number;
  /** Name of the engine that answered or was tried last. */
  engine: string | undefined;
  /** Why attempts at an engine, or at a forward route's target, failed: the first few, as `connect:refused` or `timeout`. */
  failures: readonly string[] | undefined;
  /** Which limit refused the request, if one did: `LimitKind.name`. */
  limitOf: string | undefined;
}

/** More than a request can have with two attempts; one that is translated in parts has two for each of them. */
const FAILURES_KEPT = 8;

export function noteFailure(stats: RequestStats, failure: string): void {
  const { failures = [] } = stats;
  if (failures.length < FAILURES_KEPT) stats.failures = [...failures, failure];
}

export const requestStatsSlot = reserveSlot<RequestStats>('request stats');

/** The figures of a request that has just begun; to be copied. */
export const NO_STATS: Readonly<RequestStats> = {
  characters: 0,
  canSpare: false,
  storeMs: 0,
  engineMs: 0,
  attempts: 0,
  works: 0,
  engine: undefined,
  failures: undefined,
  limitOf: undefined,
};
