// The body of POST /v1/glossaries: its schema and its rules in order.
import Type from 'typebox';
import { refuse } from '../core/problem.ts';
import type { Refusal } from '../core/outcome.ts';
import { countCharacters } from './characters.ts';
import type { Languages } from './languages.ts';

export const GLOSSARY_NAME_CHARACTERS_MAX = 200;
export const GLOSSARY_ENTRIES_MAX = 5000;
export const GLOSSARY_TERM_CHARACTERS_MAX = 500;

export const GlossaryBody = Type.Object(
  {
    name: Type.String({ minLength: 1 }),
    source_lang: Type.String(),
    target_lang: Type.String(),
    entries: Type.Record(Type.String({ minLength: 1 }), Type.String({ minLength: 1 }), {
      minProperties: 1,
      maxProperties: GLOSSARY_ENTRIES_MAX,
    }),
  },
  { additionalProperties: false },
);

/** A glossary that passed every rule but the team's limit. Codes are canonical, terms are trimmed. */
export interface GlossaryDraft {
  readonly name: string;
  readonly sourceLang: string;
  readonly targetLang: string;
  readonly entries: Readonly<Record<string, string>>;
}

export type GlossaryVerdict =
  | { readonly kind: 'valid'; readonly draft: GlossaryDraft }
  | { readonly kind: 'invalid'; readonly refusal: Refusal };

const MEMBERS: ReadonlySet<string> = new Set(Object.keys(GlossaryBody.properties));

export function judgeGlossaryBody(value: unknown, languages: Languages): GlossaryVerdict {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return no('body: must be a JSON object with the members name, source_lang, target_lang and entries.');
  }
  const members = value as Readonly<Record<string, unknown>>;
  if (Object.keys(members).some((name) => !MEMBERS.has(name))) {
    return no(`Unknown member in the body. Accepted are ${[...MEMBERS].join(', ')}.`);
  }
  const nameFault = judgeName(members['name']);
  if (nameFault !== undefined) return no(nameFault);
  const sourceLang = languages.source(members['source_lang']);
  if (sourceLang === undefined) {
    return {
      kind: 'invalid',
      refusal: refuse('invalid_source_lang', 'source_lang: must be one of the codes that GET /v1/languages lists.'),
    };
  }
  const targetLang = languages.target(members['target_lang']);
  if (targetLang === undefined) {
    const detail = 'target_lang: must be one of the codes that GET /v1/languages?type=target lists.';
    return { kind: 'invalid', refusal: refuse('invalid_target_lang', detail) };
  }
  const entries = judgeEntries(members['entries']);
  if (typeof entries === 'string') return no(entries);
  return { kind: 'valid', draft: { name: (members['name'] as string).trim(), sourceLang, targetLang, entries } };
}

function judgeName(name: unknown): string | undefined {
  if (typeof name !== 'string' || name.trim() === '') return 'name: must be a string that is not empty.';
  if (!name.isWellFormed() || /\p{Cc}/u.test(name)) return 'name: must be well-formed Unicode without control characters.';
  if (countCharacters(name) > GLOSSARY_NAME_CHARACTERS_MAX) return `name: may be at most ${GLOSSARY_NAME_CHARACTERS_MAX} characters long.`;
  return undefined;
}

/** The trimmed entries, or what is wrong with the first bad one. */
function judgeEntries(value: unknown): Readonly<Record<string, string>> | string {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return 'entries: must be an object of terms and their translations.';
  const pairs = Object.entries(value as Readonly<Record<string, unknown>>);
  if (pairs.length === 0) return 'entries: must hold at least one term.';
  if (pairs.length > GLOSSARY_ENTRIES_MAX) return `entries: may hold at most ${GLOSSARY_ENTRIES_MAX} terms; there are ${pairs.length}.`;
  const seen = new Map<string, string>();
  for (const [index, [term, translation]] of pairs.entries()) {
    const fault = judgeTerm(term) ?? (typeof translation === 'string' ? judgeTerm(translation) : 'must be a string');
    // Callers find their entry by its place: a term is theirs, and may be long.
    if (fault !== undefined) return `entries: entry ${index + 1}: term and translation ${fault}.`;
    const trimmed = term.trim();
    if (seen.has(trimmed)) return `entries: entry ${index + 1}: its term stands there twice, apart from white space around it.`;
    seen.set(trimmed, (translation as string).trim());
  }
  return Object.fromEntries(seen);
}

function judgeTerm(text: string): string | undefined {
  if (text.trim() === '') return 'must not be empty';
  if (!text.isWellFormed()) return 'must be well-formed Unicode';
  if (countCharacters(text) > GLOSSARY_TERM_CHARACTERS_MAX) return `may be at most ${GLOSSARY_TERM_CHARACTERS_MAX} characters long`;
  return undefined;
}

function no(detail: string): GlossaryVerdict {
  return { kind: 'invalid', refusal: refuse('validation_error', detail) };
}
