// Reads a glossary, or the entries of one of its dictionaries; answers a refusal where there is none.
import { isUnavailable, STORE_UNAVAILABLE } from 'lingate';
import type { DictionaryRecord, FoundEntries, GlossaryRecord, GlossaryStore, Refusal } from 'lingate';
import { CHANGING, NOT_FOUND } from './glossary-answer.ts';

/** After so many reads, between each of which the dictionary was replaced, it is given up. */
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

/** `choose` gives the dictionary, or a refusal. */
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
    // Otherwise another has taken its place since it was found.
    if (found !== undefined) return { dictionary, found };
  }
  return CHANGING;
}
