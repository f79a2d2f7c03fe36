// Which of several engines a piece of work may go to, in order: by the rules, and by what each has shown of itself.
import type { Exchange } from '../core/exchange.ts';
import { andThen } from '../core/outcome.ts';
import type { Refusal } from '../core/outcome.ts';
import { notAble, offerFor, wantsOf } from './engine-offer.ts';
import type { CurrentOffers } from './engine-offer.ts';
import { ONLY_ENGINE } from './engine-routing.ts';
import { ENGINE_UNAVAILABLE, GLOSSARY_NOT_TAKEN } from './refusals.ts';
import type { EngineGlossary, TranslationOptions } from './translation-options.ts';

/** The name of the only engine, as a list. */
export const ONE_ENGINE: readonly string[] = [ONLY_ENGINE];

/** Names of engines in the order to try them; `undefined` for the only one there is. */
export type ChosenEngines = readonly string[] | undefined;

/** What is known of engines by the requests before. */
interface KnownOfEngines {
  /** See `Engine` in the ports. */
  cannotDetect?(engine: string): boolean;
}

/** Whether the engine of this name can take a dictionary, for work that it can otherwise do. A promise the first time. */
export type TakesGlossary = (engine: string, glossary: EngineGlossary, work: TranslationOptions) => boolean | Promise<boolean>;

/** What the choice depends on. */
interface ChoiceParts {
  readonly engine: KnownOfEngines;
  readonly offers: CurrentOffers;
}

/** The engines that work may go to if there are several or rules, or the refusal if none of them can do it. */
export function enginesFor(x: Exchange, order: TranslationOptions, hasGlossary: boolean, parts: ChoiceParts): readonly string[] | Refusal {
  const offer = offerFor(x, parts.offers.current);
  const route = offer.route(order.sourceLang, order.targetLang)?.withAll(wantsOf(order, hasGlossary)) ?? 'pair';
  if (typeof route === 'string') return notAble(route, offer, order);
  return order.sourceLang === undefined ? detecting(route.names, parts.engine) : route.names;
}

/** Those that are not known to detect no languages; all of them if none is left. */
export function detecting(names: readonly string[], engine: KnownOfEngines): readonly string[] {
  if (!names.some((name) => engine.cannotDetect?.(name) === true)) return names;
  const able = names.filter((name) => engine.cannotDetect?.(name) !== true);
  return able.length === 0 ? names : able;
}

/** Leaves out the engines that have used up their characters. `isSpent` is `undefined` if none is limited. */
export function unspent(engines: ChosenEngines, isSpent: ((engine: string) => boolean) | undefined): ChosenEngines | Refusal {
  const names = engines ?? ONE_ENGINE;
  if (isSpent === undefined || !names.some(isSpent)) return engines;
  const left = names.filter((name) => !isSpent(name));
  return left.length === 0 ? ENGINE_UNAVAILABLE : left;
}

/** Leaves out the engines that cannot take the dictionary; a promise only if one of them has not seen it before. */
export function thoseThatTake(
  glossary: EngineGlossary,
  work: TranslationOptions,
  engines: ChosenEngines,
  takesGlossary: TakesGlossary,
): ChosenEngines | Refusal | Promise<ChosenEngines | Refusal> {
  const names = engines ?? ONE_ENGINE;
  const takes = names.map((name) => takesGlossary(name, glossary, work));
  const known = takes.some((one) => one instanceof Promise) ? Promise.all(takes.map(async (one) => one)) : (takes as readonly boolean[]);
  return andThen(known, (found) => {
    if (found.every(Boolean)) return engines;
    return found.some(Boolean) ? names.filter((_name, i) => found[i]) : GLOSSARY_NOT_TAKEN;
  });
}
