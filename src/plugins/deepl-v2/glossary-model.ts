// Glossaries as this API writes them: dictionaries, each for one language pair without regions. A
// glossary with one dictionary is also one of version 2, where it is a list of terms.
import { ulidToUUID, uuidToULID } from 'ulid';
import { baseCode, nameFault, refuse } from 'lingate';
import type { DictionaryRecord, GlossaryEntries, GlossaryRecord, LanguagePair, Languages, Refusal } from 'lingate';
import Type from 'typebox';
import type { Members } from '../facades/members.ts';
import { isRefusal, objectSchema, readEach } from '../facades/parameters.ts';
import type { Judged, ParameterEntry } from '../facades/parameters.ts';
import { oneOf, textOf } from './deepl-request.ts';
import { NO_ENTRIES, parseEntries, phraseFault } from './glossary-entries.ts';
import type { EntriesFormat } from './glossary-entries.ts';

export const NOT_FOUND = refuse('glossary_not_found', 'Not found: the team has no glossary with this id.');

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** The canonical ULID; `undefined` if this is not a UUID. */
export function ulidOf(uuid: string): string | undefined {
  return UUID.test(uuid) ? uuidToULID(uuid) : undefined;
}

/** For a canonical ULID. */
export function uuidOf(ulid: string): string {
  return ulidToUUID(ulid).toLowerCase();
}

/** As a list of terms for one language pair; `undefined` if it is none. */
export function monolingual({ dictionaries, ...glossary }: GlossaryRecord) {
  const [dictionary, other] = dictionaries;
  if (dictionary === undefined || other !== undefined) return undefined;
  const { glossary_id, name, creation_time } = shownGlossary(glossary);
  return { glossary_id, name, ready: true, ...shownPair(dictionary), creation_time, entry_count: dictionary.entryCount };
}

export function multilingual({ dictionaries, ...glossary }: GlossaryRecord) {
  const { glossary_id, name, creation_time } = shownGlossary(glossary);
  return { glossary_id, name, dictionaries: dictionaries.map(shownDictionary), creation_time };
}

function shownGlossary({ glossaryId, name, createdAtMs }: Omit<GlossaryRecord, 'dictionaries'>) {
  return { glossary_id: uuidOf(glossaryId), name, creation_time: new Date(createdAtMs).toISOString() };
}

export function shownDictionary(dictionary: DictionaryRecord) {
  return { ...shownPair(dictionary), entry_count: dictionary.entryCount };
}

export function shownPair({ sourceLang, targetLang }: LanguagePair) {
  return { source_lang: baseCode(sourceLang).toLowerCase(), target_lang: baseCode(targetLang).toLowerCase() };
}

/** Every pair of different languages that can be translated. */
export function languagePairs(languages: Languages): readonly LanguagePair[] {
  return languages.sources.flatMap(({ code: sourceLang }) => {
    const bases = new Set(languages.targetsFrom(sourceLang).map(({ code }) => baseCode(code)));
    return [...bases].filter((targetLang) => targetLang !== sourceLang).map((targetLang) => ({ sourceLang, targetLang }));
  });
}

/** For a code of any case, with or without a region that we know; `undefined` if it is not a source. */
function sourceBase(value: unknown, languages: Languages): string | undefined {
  return languages.source(value) === undefined && languages.target(value) === undefined ? undefined : languages.base(value);
}

/** For a code of any case, with or without a region; `undefined` if it is not a target. */
function targetBase(value: unknown, languages: Languages): string | undefined {
  const target = languages.target(value);
  if (target !== undefined) return baseCode(target);
  const bare = typeof value === 'string' ? value.toUpperCase() : undefined;
  return languages.all.targets.map(({ code }) => baseCode(code)).find((base) => base === bare);
}

/** A dictionary that is sent. Codes are without regions. */
export interface DictionaryDraft extends LanguagePair {
  readonly entries: GlossaryEntries;
}

/** What the body or the query of a request says of a glossary, or of one dictionary. */
export interface SentGlossary extends DictionaryDraft {
  readonly name: string | undefined;
  readonly format: EntriesFormat;
  readonly dictionaries: readonly DictionaryDraft[];
}

export const NOTHING_DRAFTED: SentGlossary = {
  name: undefined,
  sourceLang: '',
  targetLang: '',
  format: 'tsv',
  entries: {},
  dictionaries: [],
};

/** Of one glossary. */
export const DICTIONARIES_MAX = 100;

const NO_SOURCE = refuse('invalid_source_lang', "Value for 'source_lang' not supported.");
const NO_TARGET = refuse('invalid_target_lang', "Value for 'target_lang' not supported.");
const refused = (detail: string): Refusal => refuse('validation_error', detail);

type Entry = ParameterEntry<SentGlossary, Languages>;

/** An empty list or object is a wrong value of these parameters, and not none. */
export const NAME = {
  name: 'name',
  means: 'name',
  mayBeEmpty: true,
  about: 'A name; need not be unique. At most 1,024 bytes.',
  missing: () => refused("'name' is empty."),
  read(value: unknown): Judged<string> {
    const given = textOf(value, 'name');
    if (isRefusal(given)) return given;
    const name = given.trim();
    const fault = phraseFault(name) ?? nameFault(name);
    return fault === undefined ? name : refused(`'name' ${fault}.`);
  },
} satisfies Entry;

/** In a change, where an empty one keeps the name. */
export const NEW_NAME: Entry = { ...NAME, missing: undefined, read: (value) => (value === '' ? undefined : NAME.read(value)) };

export const PAIR: readonly Entry[] = [
  {
    name: 'source_lang',
    means: 'sourceLang',
    about: 'A code in any case; a region is ignored.',
    example: 'en',
    missing: () => NO_SOURCE,
    read: (value, _named, _draft, languages) => sourceBase(value, languages) ?? NO_SOURCE,
  },
  {
    name: 'target_lang',
    means: 'targetLang',
    about: 'A code in any case; a region is ignored.',
    example: 'de',
    missing: () => NO_TARGET,
    read: (value, _named, _draft, languages) => targetBase(value, languages) ?? NO_TARGET,
  },
];

export const DICTIONARY: readonly Entry[] = [
  ...PAIR,
  {
    name: 'entries_format',
    means: 'format',
    mayBeEmpty: true,
    about: '`tsv` (the default) or `csv`.',
    read: (value) => (value === '' ? 'tsv' : oneOf(value, 'entries_format', ['tsv', 'csv'])),
  },
  {
    name: 'entries',
    means: 'entries',
    mayBeEmpty: true,
    about:
      'One line for each entry: term, tab, translation; with `csv` a comma, quotes if needed, and optionally both languages at the end. ' +
      '1 to 10,000 entries, each side at most 1,024 bytes.',
    missing: () => NO_ENTRIES,
    read(value, _named, { sourceLang, targetLang, format }, languages) {
      const text = textOf(value, 'entries');
      if (isRefusal(text)) return text;
      const fits = (source: string, target: string): boolean =>
        sourceBase(source, languages) === sourceLang && targetBase(target, languages) === targetLang;
      return parseEntries(text, format, fits);
    },
  },
];

export const DICTIONARIES: Entry = {
  name: 'dictionaries',
  means: 'dictionaries',
  mayBeEmpty: true,
  about: 'At most 100, each for a different language pair. In a form: `dictionaries[0].source_lang`, `dictionaries[0].entries` and so on.',
  schema: Type.Array(objectSchema(DICTIONARY), { maxItems: DICTIONARIES_MAX }),
  read: (value, _named, _draft, languages) => dictionariesIn(value, languages),
};

/** A language pair may occur once. */
function dictionariesIn(value: unknown, languages: Languages): Judged<readonly DictionaryDraft[]> {
  if (!Array.isArray(value)) return refused("'dictionaries' must be an array.");
  if (value.length > DICTIONARIES_MAX) return refused(`'dictionaries' may have at most ${DICTIONARIES_MAX}.`);
  const drafts = readEach(DICTIONARY, value, NOTHING_DRAFTED, languages, 'dictionaries', (named) =>
    refused(`'${named}' must be an object.`),
  );
  if (isRefusal(drafts)) return drafts;
  const pairs = drafts.map(({ sourceLang, targetLang }) => `${sourceLang} ${targetLang}`);
  const second = pairs.findIndex((pair, index) => pairs.indexOf(pair) !== index);
  return second === -1 ? drafts : refused(`'dictionaries[${second}]' has the same languages as another.`);
}

/** The name of a form field for a member of one of several dictionaries. */
const FORM_MEMBER = /^dictionaries\[(\d{1,4})\]\.(\w+)$/;

/** Fields `dictionaries[0].source_lang` and so on are a dictionary for each number, in order. */
export function withDictionaries(members: Members): Members {
  const found = new Map<number, Map<string, unknown>>();
  for (const [name, value] of members) {
    const [, number, member = ''] = FORM_MEMBER.exec(name) ?? [];
    if (number === undefined) continue;
    const dictionary = found.get(Number(number)) ?? new Map<string, unknown>();
    found.set(Number(number), dictionary.set(member, value));
  }
  if (found.size === 0 || members.has('dictionaries')) return members;
  return new Map([...members, ['dictionaries', [...found].toSorted(([a], [b]) => a - b).map(([, dictionary]) => dictionary)]]);
}
