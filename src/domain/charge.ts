// What a request would cost its team, as the step that read it leaves it for the admission; the same for every metered route.
import { reserveSlot } from '../core/exchange.ts';
import type { Exchange } from '../core/exchange.ts';
import type { Refusal } from '../core/outcome.ts';
import { requestStatsSlot } from './slots.ts';

/** A glossary that the admission checks for existence and for a dictionary of the pair. Codes are canonical. */
export interface GlossaryReference {
  readonly glossaryId: string;
  readonly sourceLang: string;
  readonly targetLang: string;
  /** Where there is none of exactly this pair, one whose codes have the same bases will do: `PT` or `PT-BR` for `PT-PT`. */
  readonly byBase?: boolean;
}

/** A route without a charge takes a place in the team's request rate and nothing else. */
export interface Charge {
  /** Code points, judged against the plan's limit per request; `undefined` when there is nothing to measure. */
  readonly characters: number | undefined;
  /** Whether `characters` are reserved, to be charged if the request ends in an answer. */
  readonly reserve: boolean;
  /** Only with `reserve`. */
  readonly glossary: GlossaryReference | undefined;
  /** The answer where there is no such glossary, on a route that has a code for it; else the parameter is wrong. */
  readonly missingGlossary?: Refusal;
  /**
   * What is wrong with the request. It is answered after the admission, so that a revoked key gets 401 and a throttled team
   * 429 whatever the body says (decisions, order of checks).
   */
  readonly refusal: Refusal | undefined;
  /**
   * Judges the request again when the team's plan is known, and leaves what it makes of it; only there where what is offered
   * depends on the plan. What it refuses is refused before quota and credit.
   */
  readonly again?: () => Refusal | undefined;
}

export const chargeSlot = reserveSlot<Charge>('charge');

/** For a request that is refused by its own content. `characters` where they could be counted. */
export function refusedCharge(refusal: Refusal, characters?: number): Charge {
  return { characters, reserve: false, glossary: undefined, refusal };
}

/**
 * Takes characters off what an admitted request is charged, for a step that made their translation unnecessary. They add up, and
 * whatever shows a charge shows it without them. False where nothing is taken off: nothing was reserved, or the store, which is a
 * plugin's, charges only all of a reservation (`chargesParts` of its ledger).
 */
export function spareCharacters(x: Exchange, count: number): boolean {
  if (!Number.isSafeInteger(count) || count < 0) throw new RangeError(`${count} is no number of characters to spare`);
  const stats = x.need(requestStatsSlot);
  if (stats.canSpare) stats.characters = Math.max(0, stats.characters - count);
  return stats.canSpare;
}

/** What the request is charged if it ends in an answer, as it stands. */
export function chargedCharacters(x: Exchange): number {
  return x.need(requestStatsSlot).characters;
}
