// The bodies of glossary requests: a name, one dictionary or several, in JSON or in a form.
import { nameFault, refuse } from 'lingate';
import type { GlossaryEntries, LanguagePair, Languages } from 'lingate';
import Type from 'typebox';
import type { TProperties } from 'typebox';
import type { OperationDoc } from '../facades/facade-operation.ts';
import { chosen } from '../facades/members.ts';
import type { Judged, Members } from '../facades/members.ts';
import { JSON_OR_FORM, optional, string } from '../facades/reference.ts';
import { parseEntries, phraseFault } from './glossary-entries.ts';
import { sourceBase, targetBase } from './glossary-answer.ts';
import { oneOf, textOf } from './deepl-request.ts';

/** Codes without regions. */
export interface DictionaryDraft extends LanguagePair {
  readonly entries: GlossaryEntries;
}

export interface NamedDictionaries<Name = string> {
  readonly name: Name;
  readonly dictionaries: readonly DictionaryDraft[];
}

/** Entries to add, and a new name if there is one. */
export type Additions = NamedDictionaries<string | undefined>;

const FORMATS = ['tsv', 'csv'] as const;
/** The name of a form field for a member of one of several dictionaries. */
const FORM_MEMBER = /^dictionaries\[(\d{1,4})\]\.(\w+)$/;
/** Of one glossary. */
export const DICTIONARIES_MAX = 100;

/** What the reference says of a glossary's name, sent or shown. */
export const NAME_DOC = string('A name; need not be unique. At most 1,024 bytes.');

/** The members of a dictionary that is sent. */
export const DICTIONARY_DOC = {
  source_lang: string('A code in any case; a region is ignored.'),
  target_lang: string('A code in any case; a region is ignored.'),
  entries: string(
    'One line for each entry: term, tab, translation; with `csv` a comma, quotes if needed, and optionally both languages at the end. ' +
      '1 to 10,000 entries, each side at most 1,024 bytes.',
  ),
  entries_format: optional('`tsv` (the default) or `csv`.'),
};

/** The member `dictionaries` of what is sent. */
export const DICTIONARIES_DOC = Type.Optional(
  Type.Array(Type.Object(DICTIONARY_DOC), {
    maxItems: DICTIONARIES_MAX,
    description:
      'At most 100, each for a different language pair. In a form: `dictionaries[0].source_lang`, `dictionaries[0].entries` and so on.',
  }),
);

/** The body of an operation in the reference. */
export function formOrJson(members: TProperties, example: unknown): NonNullable<OperationDoc['body']> {
  return { description: 'As a form or as JSON.', contentTypes: JSON_OR_FORM, schema: Type.Object(members), example };
}

export function judgeGlossary(members: Members, languages: Languages, judge = judgeDictionaries): Judged<NamedDictionaries> {
  const name = judgeName(members);
  return 'problem' in name ? name : named(name.valid, judge(members, languages));
}

export function judgeAdditions(members: Members, languages: Languages): Judged<Additions> {
  const name = chosen(members, 'name') === undefined ? { valid: undefined } : judgeName(members);
  return 'problem' in name ? name : named(name.valid, judgeDictionaries(members, languages));
}

function named<Name>(name: Name, dictionaries: Judged<readonly DictionaryDraft[]>): Judged<NamedDictionaries<Name>> {
  return 'problem' in dictionaries ? dictionaries : { valid: { name, dictionaries: dictionaries.valid } };
}

function judgeName(members: Members): Judged<string> {
  const given = textOf(members.get('name') ?? '', 'name');
  if ('problem' in given) return given;
  const name = given.valid.trim();
  const fault = phraseFault(name) ?? nameFault(name);
  return fault === undefined ? { valid: name } : refuse('validation_error', `'name' ${fault}.`);
}

export function judgePair(members: Members, languages: Languages): Judged<LanguagePair> {
  const sourceLang = sourceBase(chosen(members, 'source_lang'), languages);
  if (sourceLang === undefined) return refuse('invalid_source_lang', "Value for 'source_lang' not supported.");
  const targetLang = targetBase(chosen(members, 'target_lang'), languages);
  if (targetLang === undefined) return refuse('invalid_target_lang', "Value for 'target_lang' not supported.");
  return { valid: { sourceLang, targetLang } };
}

export function judgeDictionary(members: Members, languages: Languages): Judged<DictionaryDraft> {
  const pair = judgePair(members, languages);
  if ('problem' in pair) return pair;
  const { sourceLang, targetLang } = pair.valid;
  const format = oneOf(chosen(members, 'entries_format') ?? 'tsv', 'entries_format', FORMATS);
  if ('problem' in format) return format;
  const text = textOf(members.get('entries') ?? '', 'entries');
  if ('problem' in text) return text;
  const fits = (source: string, target: string): boolean =>
    sourceBase(source, languages) === sourceLang && targetBase(target, languages) === targetLang;
  const entries = parseEntries(text.valid, format.valid, fits);
  return 'problem' in entries ? entries : { valid: { sourceLang, targetLang, entries: entries.valid } };
}

/** Empty if there is no member with that name. A language pair may occur once. */
export function judgeDictionaries(members: Members, languages: Languages): Judged<readonly DictionaryDraft[]> {
  const given = members.get('dictionaries') ?? fromForm(members);
  if (!Array.isArray(given)) return refuse('validation_error', "'dictionaries' must be an array.");
  if (given.length > DICTIONARIES_MAX) return refuse('validation_error', `'dictionaries' may have at most ${DICTIONARIES_MAX}.`);
  const drafts = new Map<string, DictionaryDraft>();
  for (const [index, one] of (given as readonly unknown[]).entries()) {
    if (typeof one !== 'object' || one === null) return refuse('validation_error', `'dictionaries[${index}]' must be an object.`);
    const draft = judgeDictionary(one instanceof Map ? (one as Members) : new Map(Object.entries(one)), languages);
    if ('problem' in draft) return draft;
    const { sourceLang, targetLang } = draft.valid;
    const pair = `${sourceLang} ${targetLang}`;
    if (drafts.has(pair)) return refuse('validation_error', `'dictionaries[${index}]' has the same languages as another.`);
    drafts.set(pair, draft.valid);
  }
  return { valid: [...drafts.values()] };
}

/** Fields `dictionaries[0].source_lang` and so on: a dictionary for each number, in order. */
function fromForm(members: Members): readonly Members[] {
  const found = new Map<number, Map<string, unknown>>();
  for (const [name, value] of members) {
    const [, number, member = ''] = FORM_MEMBER.exec(name) ?? [];
    if (number === undefined) continue;
    const dictionary = found.get(Number(number)) ?? new Map<string, unknown>();
    found.set(Number(number), dictionary.set(member, value));
  }
  return [...found].toSorted(([a], [b]) => a - b).map(([, dictionary]) => dictionary);
}
