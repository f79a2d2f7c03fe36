// Glossaries: the body of POST /v1/glossaries, its schema and its rules in order; and which
// dictionary of a glossary serves a translation.
import { refuse } from '../core/problem.ts';
import type { Refusal } from '../core/outcome.ts';
import { shownWord, unknownAmong } from './json-body.ts';
import { nameFault } from './record-name.ts';
import { countCharacters } from './characters.ts';
import type { JsonMembers } from './json-body.ts';
import type { Languages } from './languages.ts';
import { Type } from './typebox.ts';
import type { GlossaryReference } from './slots.ts';

const GLOSSARY_NAME_CHARACTERS_MAX = 200;
const GLOSSARY_ENTRIES_MAX = 5000;
const GLOSSARY_TERM_CHARACTERS_MAX = 500;

const term = { minLength: 1, maxLength: GLOSSARY_TERM_CHARACTERS_MAX } as const;

/** Shown in the reference. A test checks it against the rules below, which are authoritative. */
export const GlossaryBody = Type.Object(
  {
    name: Type.String({ minLength: 1, maxLength: GLOSSARY_NAME_CHARACTERS_MAX, description: 'For people; need not be unique.' }),
    source_lang: Type.String({ description: 'A source code, in upper or lower case.' }),
    target_lang: Type.String({ description: 'A target code, in upper or lower case.' }),
    entries: Type.Record(Type.String(), Type.String(term), {
      propertyNames: term,
      minProperties: 1,
      maxProperties: GLOSSARY_ENTRIES_MAX,
      description: 'Terms and their translations. White space around either is dropped.',
    }),
  },
  { additionalProperties: false },
);

/** All but the team's limit is checked. Codes are canonical; names and terms are trimmed. */
export interface GlossaryDraft {
  readonly name: string;
  readonly sourceLang: string;
  readonly targetLang: string;
  readonly entries: Readonly<Record<string, string>>;
}

const MEMBERS: ReadonlySet<string> = new Set(Object.keys(GlossaryBody.properties));
/** Not in terms and names: engines read terms by line, and people read names in lists. */
const LINE_BREAK_OR_CONTROL = /[\p{Cc}\p{Zl}\p{Zp}]/u;
const NO_OBJECT = refuse('validation_error', 'body: must be a JSON object with the members name, source_lang, target_lang and entries.');
const NO_SOURCE = refuse(
  'invalid_source_lang',
  'source_lang: must be one of the codes that GET /v1/languages lists; regional variants are targets only.',
);
const NO_TARGET = refuse('invalid_target_lang', 'target_lang: must be one of the codes that GET /v1/languages?type=target lists.');

export function judgeGlossaryBody(body: unknown, languages: Languages): GlossaryDraft | Refusal {
  if (!isObject(body)) return NO_OBJECT;
  const unknown = unknownAmong(Object.keys(body), MEMBERS);
  if (unknown !== undefined) return no(`Unknown member: ${unknown}. Accepted are ${[...MEMBERS].join(', ')}.`);
  const name = phraseOf(body['name'], GLOSSARY_NAME_CHARACTERS_MAX);
  const fault = typeof name === 'string' ? nameFault(name) : name.fault;
  if (typeof name !== 'string' || fault !== undefined) return no(`name: ${fault}.`);
  const sourceLang = languages.source(body['source_lang']);
  if (sourceLang === undefined) return NO_SOURCE;
  const targetLang = languages.target(body['target_lang']);
  if (targetLang === undefined) return NO_TARGET;
  const entries = entriesOf(body['entries']);
  return typeof entries === 'string' ? no(entries) : { name, sourceLang, targetLang, entries: Object.fromEntries(entries) };
}

/** What is wrong with them is the first invalid entry, by its term. */
function entriesOf(value: unknown): ReadonlyMap<string, string> | string {
  if (!isObject(value)) return 'entries: must be an object of terms and their translations.';
  const pairs = Object.entries(value);
  if (pairs.length === 0) return 'entries: must hold at least one term.';
  if (pairs.length > GLOSSARY_ENTRIES_MAX) return `entries: may hold at most ${GLOSSARY_ENTRIES_MAX} terms; there are ${pairs.length}.`;
  const valid = new Map<string, string>();
  for (const [key, text] of pairs) {
    const [name, translation] = [key, text].map((one) => phraseOf(one, GLOSSARY_TERM_CHARACTERS_MAX));
    if (typeof name !== 'string') return `entries["${shownWord(key)}"]: a term ${name!.fault}.`;
    if (typeof translation !== 'string') return `entries["${shownWord(key)}"]: its translation ${translation!.fault}.`;
    // It is unclear which of the two is right.
    if (valid.has(name)) return `entries["${shownWord(key)}"]: the same term appears twice, apart from white space.`;
    valid.set(name, translation);
  }
  return valid;
}

/** Trimmed, or what is wrong with it. */
function phraseOf(value: unknown, charactersMax: number): string | { readonly fault: string } {
  if (typeof value !== 'string') return { fault: 'must be a string' };
  const phrase = value.trim();
  if (phrase === '') return { fault: 'must not be empty' };
  if (!phrase.isWellFormed()) return { fault: 'must be well-formed Unicode' };
  if (LINE_BREAK_OR_CONTROL.test(phrase)) return { fault: 'must not hold line breaks or control characters' };
  return countCharacters(phrase) > charactersMax ? { fault: `may be at most ${charactersMax} characters long` } : phrase;
}

function isObject(value: unknown): value is JsonMembers {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function no(detail: string): Refusal {
  return refuse('validation_error', detail);
}

/** Codes are canonical. */
export interface LanguagePair {
  readonly sourceLang: string;
  readonly targetLang: string;
}

/** A code without its region or script: `PT` for `PT-BR`. */
export function baseCode(code: string): string {
  const hyphen = code.indexOf('-');
  return hyphen === -1 ? code : code.slice(0, hyphen);
}

/** An exact match; otherwise, if `byBase` allows it, the first with the same base codes. */
export function dictionaryFor<Dictionary extends LanguagePair>(
  dictionaries: readonly Dictionary[],
  { sourceLang, targetLang, byBase }: Omit<GlossaryReference, 'glossaryId'>,
): Dictionary | undefined {
  const exact = dictionaries.find((one) => one.sourceLang === sourceLang && one.targetLang === targetLang);
  if (exact !== undefined || byBase !== true) return exact;
  const [source, target] = [baseCode(sourceLang), baseCode(targetLang)];
  return dictionaries.find((one) => baseCode(one.sourceLang) === source && baseCode(one.targetLang) === target);
}
