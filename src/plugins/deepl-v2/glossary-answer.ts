// The answers about glossaries, with ids and languages, and the refusals that all routes share.
import { ulidToUUID, uuidToULID } from 'ulid';
import { baseCode, NO_HEADERS, refuse } from 'lingate';
import type { DictionaryRecord, GlossaryRecord, LanguagePair, Languages, Outcome } from 'lingate';

export const INVALID_ID = refuse('validation_error', 'Invalid or missing glossary id.');
export const NOT_FOUND = refuse('glossary_not_found', 'Not found: the team has no glossary with this id.');
export const NO_DICTIONARY = refuse('glossary_not_found', 'No dictionary found for language pair.');
/** For a glossary that was changed again during each of several reads. */
export const CHANGING = refuse('service_unavailable', 'The glossary is being changed by others; try again in a few seconds.');
export const DELETED: Outcome = { kind: 'reply', status: 204, contentType: undefined, body: '', headers: NO_HEADERS };

/** As a list of terms for one language pair; `undefined` if it is none. */
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

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** The canonical ULID; `undefined` if this is not a UUID. */
export function ulidOf(uuid: string): string | undefined {
  return UUID.test(uuid) ? uuidToULID(uuid) : undefined;
}

/** For a canonical ULID. */
export function uuidOf(ulid: string): string {
  return ulidToUUID(ulid).toLowerCase();
}

/** For a code of any case, with or without a region; `undefined` if it is not a source. */
export function sourceBase(value: unknown, languages: Languages): string | undefined {
  const base = languages.base(value);
  // A region is accepted if we know it.
  return languages.source(value) === undefined && languages.target(value) === undefined ? undefined : base;
}

/** For a code of any case, with or without a region; `undefined` if it is not a target. */
export function targetBase(value: unknown, languages: Languages): string | undefined {
  const target = languages.target(value);
  if (target !== undefined) return baseCode(target);
  const bare = typeof value === 'string' ? value.toUpperCase() : undefined;
  return languages.all.targets.map(({ code }) => baseCode(code)).find((base) => base === bare);
}

/** Codes as answers show them. */
function shownCode(code: string): string {
  return baseCode(code).toLowerCase();
}

/** Every pair of different languages that can be translated. */
export function languagePairs(languages: Languages): readonly LanguagePair[] {
  return languages.sources.flatMap(({ code: sourceLang }) => {
    const bases = new Set(languages.targetsFrom(sourceLang).map(({ code }) => baseCode(code)));
    return [...bases].filter((targetLang) => targetLang !== sourceLang).map((targetLang) => ({ sourceLang, targetLang }));
  });
}
