// The glossary that a translation names: the entries for its pair of languages, which is matched by base.
import { canonicalUlid, keyOwnerSlot, NO_SUCH_GLOSSARY, refuse } from 'lingate';
import type { Exchange, GatewayServices, Refusal, TranslationOptions } from 'lingate';

const NO_DICTIONARY = refuse('validation_error', 'No dictionary found for language pair.');

/** The options with the glossary in them, or why it cannot be used. `options` has a source language. */
export async function useGlossary(
  x: Exchange,
  services: GatewayServices,
  id: string,
  options: TranslationOptions,
): Promise<TranslationOptions | Refusal> {
  const { glossaries } = services;
  const { teamId } = x.need(keyOwnerSlot);
  const glossaryId = canonicalUlid(id);
  const found = glossaryId === undefined ? undefined : await glossaries.find(teamId, glossaryId);
  if (found === undefined) return NO_SUCH_GLOSSARY;
  const list = services.languages();
  const same = (one: string | undefined, other: string): boolean => list.base(one) === list.base(other);
  if (!same(options.sourceLang, found.sourceLang) || !same(options.targetLang, found.targetLang)) return NO_DICTIONARY;
  const entries = await glossaries.entries(teamId, found.glossaryId);
  if (entries === undefined) return NO_SUCH_GLOSSARY;
  return { ...options, glossary: { id: found.glossaryId, entries } };
}
