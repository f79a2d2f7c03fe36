// The glossary that an order names: the dictionary that the admission resolved it to, from the cache.
import type { Exchange } from '../../core/exchange.ts';
import type { Refusal } from '../../core/outcome.ts';
import { chargeSlot } from '../../domain/charge.ts';
import type { GlossaryReference } from '../../domain/charge.ts';
import { dictionaryIdSlot, keyOwnerSlot, requestStatsSlot } from '../../domain/slots.ts';
import { NO_SUCH_GLOSSARY, STORE_UNAVAILABLE } from '../../domain/refusals.ts';
import { isUnavailable } from '../../domain/store-unavailable.ts';
import type { StoreUnavailable } from '../../domain/store-unavailable.ts';
import type { EngineGlossary } from '../../domain/translation-options.ts';
import type { GlossaryCache } from '../../ports/glossary-store.ts';
import type { TranslationOrder } from '../../ports/gateway-services.ts';

/** Where glossaries are found. */
interface GlossaryOptions {
  readonly glossaries: GlossaryCache;
  /** A monotonic clock in milliseconds. */
  readonly now: () => number;
}

/** Or why there is none. */
export type GlossaryFound = EngineGlossary | Refusal;

/** The glossary that an order names; a promise only if it has to be fetched. */
export function glossaryOf(
  x: Exchange,
  order: TranslationOrder,
  glossaryId: string,
  options: GlossaryOptions,
): GlossaryFound | Promise<GlossaryFound> {
  const startedAtMs = options.now();
  const reference = referenceOf(x, order, glossaryId);
  const dictionary = options.glossaries.dictionary(x.need(keyOwnerSlot).teamId, reference, x.get(dictionaryIdSlot));
  if (!(dictionary instanceof Promise)) return foundOr(dictionary);
  return dictionary.then((found) => {
    x.need(requestStatsSlot).storeMs += options.now() - startedAtMs;
    return foundOr(found);
  });
}

function foundOr(dictionary: EngineGlossary | undefined | StoreUnavailable): GlossaryFound {
  // Deleted since the admission found it.
  if (dictionary === undefined) return NO_SUCH_GLOSSARY;
  return isUnavailable(dictionary) ? STORE_UNAVAILABLE : dictionary;
}

/** The charge's reference to the glossary; built from the order if the charge has none. */
function referenceOf(x: Exchange, { options }: TranslationOrder, glossaryId: string): GlossaryReference {
  const charged = x.get(chargeSlot)?.glossary;
  if (charged?.glossaryId === glossaryId) return charged;
  return { glossaryId, sourceLang: options.sourceLang ?? '', targetLang: options.targetLang };
}
