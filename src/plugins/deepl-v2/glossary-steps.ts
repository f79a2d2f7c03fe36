// What steps of routes do with glossaries: find the one in the path, a dictionary with its entries, or several as one.
import { dictionaryFor, GLOSSARY_MISMATCH, isUnavailable, keyOwnerSlot, STORE_UNAVAILABLE } from 'lingate';
import type { DictionaryRecord, EngineGlossary, Exchange, FoundEntries, GatewayServices } from 'lingate';
import type { GlossaryRecord, GlossaryStore, Refusal, TranslationOptions } from 'lingate';
import { CHANGING, NOT_FOUND } from './glossary-answer.ts';

/** After this many reads, during each of which a dictionary was replaced, it gives up. */
const LOOKS_MAX = 10;

export interface FoundDictionary {
  readonly dictionary: DictionaryRecord;
  readonly found: FoundEntries;
}

export async function findGlossary(glossaries: GlossaryStore, teamId: string, glossaryId: string): Promise<GlossaryRecord | Refusal> {
  const found = await glossaries.find(teamId, glossaryId);
  if (isUnavailable(found)) return STORE_UNAVAILABLE;
  return found ?? NOT_FOUND;
}

/** `choose` returns the dictionary, or a refusal. */
export async function findEntries(
  glossaries: GlossaryStore,
  teamId: string,
  glossaryId: string,
  choose: (glossary: GlossaryRecord) => DictionaryRecord | Refusal,
): Promise<FoundDictionary | Refusal> {
  for (let look = 0; look < LOOKS_MAX; look++) {
    const glossary = await findGlossary(glossaries, teamId, glossaryId);
    if ('problem' in glossary) return glossary;
    const dictionary = choose(glossary);
    if ('problem' in dictionary) return dictionary;
    const found = await glossaries.entries(teamId, dictionary.dictionaryId);
    if (isUnavailable(found)) return STORE_UNAVAILABLE;
    // Otherwise another one has replaced it since it was found.
    if (found !== undefined) return { dictionary, found };
  }
  return CHANGING;
}

/** One glossary with all their terms, or the refusal. `options` has a source language. */
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
    // A dictionary never changes under its id, so neither do the merged terms of several.
    const merged = await services.mergedGlossary(teamId, dictionaryIds);
    if (isUnavailable(merged)) return STORE_UNAVAILABLE;
    // Otherwise one was replaced after it was found.
    if (merged !== undefined) return merged;
  }
  return CHANGING;
}
