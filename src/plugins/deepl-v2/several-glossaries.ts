// Several glossaries for one translation: in the order in which they are named, and the first of them that has a term decides.
import { dictionaryFor, GLOSSARY_MISMATCH, keyOwnerSlot } from 'lingate';
import type { EngineGlossary, Exchange, GatewayServices, GlossaryEntries, GlossaryRecord, Refusal, TranslationOptions } from 'lingate';
import { findEntries } from './glossary-look.ts';

/** One glossary of all their terms, or why there is none. `options` has a source language. */
export async function oneOfSeveral(
  x: Exchange,
  { glossaries }: GatewayServices,
  glossaryIds: readonly string[],
  { sourceLang, targetLang }: TranslationOptions,
): Promise<EngineGlossary | Refusal> {
  const { teamId } = x.need(keyOwnerSlot);
  const pair = { sourceLang: sourceLang!, targetLang, byBase: true };
  const choose = ({ dictionaries }: GlossaryRecord) => dictionaryFor(dictionaries, pair) ?? GLOSSARY_MISMATCH;
  const found = await Promise.all(glossaryIds.map((id) => findEntries(glossaries, teamId, id, choose)));
  let id = '';
  let entries: GlossaryEntries = {};
  for (const one of found) {
    if ('problem' in one) return one;
    // Dictionaries never change under their ids, so neither do the terms under this one.
    id += id === '' ? one.dictionary.dictionaryId : `+${one.dictionary.dictionaryId}`;
    entries = { ...one.entries, ...entries };
  }
  return { id, entries };
}
