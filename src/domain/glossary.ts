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

type JudgedGlossary = { readonly kind: 'valid'; readonly draft: GlossaryDraft } | { readonly kind: 'invalid'; readonly refusal: Refusal };
/** A valid value, or what is wrong with it. */
type JudgedValue<T> = { readonly valid: T } | { readonly fault: string };

const MEMBERS: ReadonlySet<string> = new Set(Object.keys(GlossaryBody.properties));
/** Not in terms and names: engines read terms by line, and people read names in lists. */
const LINE_BREAK_OR_CONTROL = /[\p{Cc}\p{Zl}\p{Zp}]/u;

export function judgeGlossaryBody(value: unknown, languages: Languages): JudgedGlossary {
  if (!isObject(value)) return no('body: must be a JSON object with the members name, source_lang, target_lang and entries.');
  const unknown = unknownAmong(Object.keys(value), MEMBERS);
  if (unknown !== undefined) return no(`Unknown member: ${unknown}. Accepted are ${[...MEMBERS].join(', ')}.`);
  const name = judgePhrase(value['name'], GLOSSARY_NAME_CHARACTERS_MAX);
  const nameIs = 'fault' in name ? name.fault : nameFault(name.valid);
  if ('fault' in name || nameIs !== undefined) return no(`name: ${nameIs}.`);
  const sourceLang = languages.source(value['source_lang']);
  if (sourceLang === undefined) {
    const detail = 'source_lang: must be one of the codes that GET /v1/languages lists; regional variants are targets only.';
    return { kind: 'invalid', refusal: refuse('invalid_source_lang', detail) };
  }
  const targetLang = languages.target(value['target_lang']);
  if (targetLang === undefined) {
    const detail = 'target_lang: must be one of the codes that GET /v1/languages?type=target lists.';
    return { kind: 'invalid', refusal: refuse('invalid_target_lang', detail) };
  }
  const entries = judgeEntries(value['entries']);
  if ('fault' in entries) return no(entries.fault);
  return { kind: 'valid', draft: { name: name.valid, sourceLang, targetLang, entries: entries.valid } };
}

/** Stops at the first invalid entry and identifies it by its term. */
function judgeEntries(value: unknown): JudgedValue<Readonly<Record<string, string>>> {
  if (!isObject(value)) return { fault: 'entries: must be an object of terms and their translations.' };
  const pairs = Object.entries(value);
  if (pairs.length === 0) return { fault: 'entries: must hold at least one term.' };
  if (pairs.length > GLOSSARY_ENTRIES_MAX) {
    return { fault: `entries: may hold at most ${GLOSSARY_ENTRIES_MAX} terms; there are ${pairs.length}.` };
  }
  const valid = new Map<string, string>();
  for (const [key, text] of pairs) {
    const phrase = judgePhrase(key, GLOSSARY_TERM_CHARACTERS_MAX);
    if ('fault' in phrase) return { fault: `entries["${shownWord(key)}"]: a term ${phrase.fault}.` };
    const translation = judgePhrase(text, GLOSSARY_TERM_CHARACTERS_MAX);
    if ('fault' in translation) return { fault: `entries["${shownWord(key)}"]: its translation ${translation.fault}.` };
    // It is unclear which of the two is right.
    if (valid.has(phrase.valid)) return { fault: `entries["${shownWord(key)}"]: the same term appears twice, apart from white space.` };
    valid.set(phrase.valid, translation.valid);
  }
  return { valid: Object.fromEntries(valid) };
}

function judgePhrase(value: unknown, charactersMax: number): JudgedValue<string> {
  if (typeof value !== 'string') return { fault: 'must be a string' };
  const phrase = value.trim();
  if (phrase === '') return { fault: 'must not be empty' };
  if (!phrase.isWellFormed()) return { fault: 'must be well-formed Unicode' };
  if (LINE_BREAK_OR_CONTROL.test(phrase)) return { fault: 'must not hold line breaks or control characters' };
  if (countCharacters(phrase) > charactersMax) return { fault: `may be at most ${charactersMax} characters long` };
  return { valid: phrase };
}

function isObject(value: unknown): value is JsonMembers {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function no(detail: string): JudgedGlossary {
  return { kind: 'invalid', refusal: refuse('validation_error', detail) };
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
