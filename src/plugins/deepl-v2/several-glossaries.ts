// Several glossaries for one translation: in the order in which they are named, and the first of them that has a term decides.
import { dictionaryFor, GLOSSARY_MISMATCH, isUnavailable, keyOwnerSlot, STORE_UNAVAILABLE } from 'lingate';
import type { EngineGlossary, Exchange, GatewayServices, Refusal, TranslationOptions } from 'lingate';
import { CHANGING } from './glossary-answer.ts';
import { findGlossary } from './glossary-look.ts';

/** After so many looks, between each of which a dictionary was replaced, it is given up. */
const LOOKS_MAX = 10;

/** One glossary of all their terms, or why there is none. `options` has a source language. */
export async function oneOfSeveral(
  x: Exchange,
  services: GatewayServices,
  glossaryIds: readonly string[],
  { sourceLang, targetLang }: TranslationOptions,
): Promise<EngineGlossary | Refusal> {
  const { teamId } = x.need(keyOwnerSlot);
  const pair = { sourceLang: sourceLang!, targetLang, byBase: true };
  for (let look = 0; look < LOOKS_MAX; look++) {
    const dictionaryIds: string[] = [];
    for (const found of await Promise.all(glossaryIds.map((id) => findGlossary(services.glossaries, teamId, id)))) {
      if ('problem' in found) return found;
      const dictionary = dictionaryFor(found.dictionaries, pair);
      if (dictionary === undefined) return GLOSSARY_MISMATCH;
      dictionaryIds.push(dictionary.dictionaryId);
    }
    // Dictionaries never change under their ids, so neither do the terms of several of them.
    const merged = await services.mergedGlossary(teamId, dictionaryIds);
    if (isUnavailable(merged)) return STORE_UNAVAILABLE;
    // Otherwise one was replaced since it was found.
    if (merged !== undefined) return merged;
  }
  return CHANGING;
}
