// What a request collects on its way: slots between steps, what it costs, what is logged.
import { reserveSlot } from '../core/exchange.ts';
import type { Exchange } from '../core/exchange.ts';
import type { KeyDigest, KeyOwner } from './api-key.ts';
import type { NamedTag, RequestTag } from './request-tag.ts';
import type { RequestTrace } from './request-trace.ts';
import type { TranslateRequest } from './translate-request.ts';
import type { Refusal } from '../core/outcome.ts';

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

/** The request's tag in a vendor's own form; `Lingate-Tag` comes before it. */
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
  /** Why attempts at an engine or a target failed: a few, as `connect:refused` or `timeout`. */
  failures: readonly string[] | undefined;
  /** Which limit refused the request, if one did: `LimitKind.name`. */
  limitOf: string | undefined;
}

/** More than two attempts can have; a request translated in parts has two for each. */
const FAILURES_MAX = 8;

export function noteFailure(stats: RequestStats, failure: string): void {
  const { failures = [] } = stats;
  if (failures.length < FAILURES_MAX) stats.failures = [...failures, failure];
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

/** It must exist with a dictionary for the pair, as the admission checks. Codes are canonical. */
export interface GlossaryReference {
  readonly glossaryId: string;
  readonly sourceLang: string;
  readonly targetLang: string;
  /** Without an exact match, a pair with the same base codes: `PT` or `PT-BR` for `PT-PT`. */
  readonly byBase?: boolean;
}

/** A route without a charge only takes a slot in the team's rate window. */
export interface Charge {
  /** Code points, checked against the plan's limit per request; `undefined` if there is no text. */
  readonly characters: number | undefined;
  /** Whether to reserve `characters`, which are charged if the request ends in an answer. */
  readonly reserve: boolean;
  /** How many are charged, if not all of `characters`; for what has no limit per request, more. */
  readonly charged?: number | undefined;
  /** For how long, if not for a request. */
  readonly leaseMs?: number | undefined;
  /** Only with `reserve`. */
  readonly glossary: GlossaryReference | undefined;
  /** For a missing glossary on a route with a code of its own for it. */
  readonly missingGlossary?: Refusal;
  /**
   * Why the request itself is refused. Answered after the admission, so that a revoked key gets 401
   * and a throttled team 429 whatever the body contains.
   */
  readonly refusal: Refusal | undefined;
}

export const chargeSlot = reserveSlot<Charge>('charge');

/**
 * Checks again once the team's plan is known; only set if the offer depends on it. Comes before
 * quota and credit. It may hold the whole body, so the admission removes it.
 */
export interface JudgeAgain {
  readonly judge: () => Refusal | undefined;
  /** The charge's refusal at the time. If a step has refused since, that one is answered. */
  readonly refusal: Refusal | undefined;
}

export const judgeAgainSlot = reserveSlot<JudgeAgain | undefined>('judge again');

/** For a request refused because of its content. `characters` if they could be counted. */
export function refusedCharge(refusal: Refusal, characters?: number): Charge {
  return { characters, reserve: false, glossary: undefined, refusal };
}

/**
 * Reduces the charge of an admitted request, for a step that made translating some characters
 * unnecessary. Calls add up. False if nothing was reserved.
 */
export function spareCharacters(x: Exchange, count: number): boolean {
  if (!Number.isSafeInteger(count) || count < 0) throw new RangeError(`${count} is no number of characters to spare`);
  const stats = x.need(requestStatsSlot);
  if (stats.canSpare) stats.characters = Math.max(0, stats.characters - count);
  return stats.canSpare;
}

/** What the request will be charged if it ends in an answer, as of now. */
export function chargedCharacters(x: Exchange): number {
  return x.need(requestStatsSlot).characters;
}
