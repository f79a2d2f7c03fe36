// What a request costs its team, as set by the step that read it, for the admission; the same for every metered route.
import { reserveSlot } from '../core/exchange.ts';
import type { Exchange } from '../core/exchange.ts';
import type { Refusal } from '../core/outcome.ts';
import { requestStatsSlot } from './slots.ts';

/** A glossary that must exist and have a dictionary for the pair, which the admission checks. Codes are canonical. */
export interface GlossaryReference {
  readonly glossaryId: string;
  readonly sourceLang: string;
  readonly targetLang: string;
  /** If there is no exact match, accept a pair with the same base codes: `PT` or `PT-BR` for `PT-PT`. */
  readonly byBase?: boolean;
}

/** A route without a charge only takes a slot in the team's rate window. */
export interface Charge {
  /** Code points, checked against the plan's limit per request; `undefined` if there is no text. */
  readonly characters: number | undefined;
  /** Whether to reserve `characters`, which are charged if the request ends in an answer. */
  readonly reserve: boolean;
  /** How many are reserved and charged, if not all of `characters`; for what has no limit per request, more. */
  readonly charged?: number | undefined;
  /** For how long, if not for a request. */
  readonly leaseMs?: number | undefined;
  /** Only with `reserve`. */
  readonly glossary: GlossaryReference | undefined;
  /** The refusal for a missing glossary on a route that has a specific code for it; by default a parameter error. */
  readonly missingGlossary?: Refusal;
  /**
   * Why the request itself is refused. It is answered after the admission, so that a revoked key gets 401 and a throttled team
   * 429 whatever the body contains (decisions, order of checks).
   */
  readonly refusal: Refusal | undefined;
}

export const chargeSlot = reserveSlot<Charge>('charge');

/**
 * Checks the request again once the team's plan is known, and stores the result; only set if the offer depends on the plan. Its
 * refusal precedes quota and credit. It may hold the whole body, so the admission removes it before the engine is called.
 */
export interface JudgeAgain {
  readonly judge: () => Refusal | undefined;
  /** The charge's refusal at the time. If a step has refused the request since, that refusal is answered. */
  readonly refusal: Refusal | undefined;
}

export const judgeAgainSlot = reserveSlot<JudgeAgain | undefined>('judge again');

/** For a request refused because of its content. `characters` if they could be counted. */
export function refusedCharge(refusal: Refusal, characters?: number): Charge {
  return { characters, reserve: false, glossary: undefined, refusal };
}

/**
 * Reduces the charge of an admitted request, for a step that made translating some characters unnecessary. Calls add up, and
 * every report of the charge reflects them. Returns false if nothing was reserved, so that nothing is deducted.
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
