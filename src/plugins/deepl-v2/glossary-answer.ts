// How glossaries are shown, and the refusals that all their routes share.
import { BYTES_REACHED, json, NO_HEADERS, refuse } from 'lingate';
import type { BytesReached, DictionaryRecord, GlossaryRecord, LanguagePair, Outcome, Refusal } from 'lingate';
import { uuidOf } from './glossary-id.ts';
import { shownCode } from './glossary-languages.ts';

export const INVALID_ID = refuse('validation_error', 'Invalid or missing glossary id.');
export const NOT_FOUND = refuse('glossary_not_found', 'Not found: the team has no glossary of this id.');
export const NO_DICTIONARY = refuse('glossary_not_found', 'No dictionary found for language pair.');
/** For a glossary that was changed between two reads, again and again. */
export const CHANGING = refuse('service_unavailable', 'The glossary is being changed by others; try again in a few seconds.');
export const DELETED: Outcome = { kind: 'reply', status: 204, contentType: undefined, body: '', headers: NO_HEADERS };

export function limitReached(maxGlossaries: number): Refusal {
  const detail = `The plan allows ${maxGlossaries} glossaries; delete one first.`;
  return refuse('glossary_limit_reached', detail, { max_glossaries: maxGlossaries });
}

export function bytesReached({ maxGlossaries }: BytesReached): Refusal {
  return refuse('glossary_limit_reached', BYTES_REACHED, { max_glossaries: maxGlossaries });
}

export function answer(body: unknown, status = 200): Outcome {
  return json(JSON.stringify(body), status);
}

/** As a list of terms for one pair of languages; `undefined` where it is none. */
export function monolingual(glossary: GlossaryRecord): Readonly<Record<string, unknown>> | undefined {
  const [dictionary, other] = glossary.dictionaries;
  if (dictionary === undefined || other !== undefined) return undefined;
  const { glossaryId, name, createdAtMs } = glossary;
  return {
    glossary_id: uuidOf(glossaryId),
    name,
    ready: true,
    ...shownPair(dictionary),
    creation_time: shownTime(createdAtMs),
    entry_count: dictionary.entryCount,
  };
}

export function multilingual({ glossaryId, name, dictionaries, createdAtMs }: GlossaryRecord): Readonly<Record<string, unknown>> {
  const shown = dictionaries.map(shownDictionary);
  return { glossary_id: uuidOf(glossaryId), name, dictionaries: shown, creation_time: shownTime(createdAtMs) };
}

export function shownDictionary(dictionary: DictionaryRecord): Readonly<Record<string, unknown>> {
  return { ...shownPair(dictionary), entry_count: dictionary.entryCount };
}

export function shownPair({ sourceLang, targetLang }: LanguagePair): Readonly<Record<string, unknown>> {
  return { source_lang: shownCode(sourceLang), target_lang: shownCode(targetLang) };
}

function shownTime(ms: number): string {
  return new Date(ms).toISOString();
}
