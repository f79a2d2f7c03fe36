// The parameters of POST /v1/translate, each with schema and rule, in the interface's order.
import { refuse } from '../core/problem.ts';
import type { Refusal } from '../core/outcome.ts';
import { unknownAmong } from './json-body.ts';
import { countCharacters } from './characters.ts';
import type { JsonMembers } from './json-body.ts';
import type { Languages } from './languages.ts';
import { refusalFor } from './engine-offer.ts';
import type { EngineOffer } from './engine-offer.ts';
import { NO_SUCH_GLOSSARY, pairNotOffered } from './refusals.ts';
import { Type } from './typebox.ts';
import { invalid, loneSurrogate, NOTHING_CHOSEN, OPTION_PARAMETERS, wantsOf } from './translation-options.ts';
import type { BodyParameter, Offered, OptionsDraft, TranslationOptions } from './translation-options.ts';
import { canonicalUlid } from './ulid.ts';

const TEXTS_MAX = 50;
const TOO_MANY_TEXTS = refuse('too_many_texts', `text: may hold at most ${TEXTS_MAX} entries.`, { max_texts: TEXTS_MAX });

/** Passed every rule that needs no store. Codes are canonical. */
export interface TranslateRequest {
  readonly text: readonly string[];
  readonly characters: number;
  /** As sent to the engine, except for the glossary: only its id is known so far. */
  readonly options: TranslationOptions;
  readonly glossaryId: string | undefined;
}

/** As far as it has been read. `characters` is set once the texts have passed. */
interface Draft extends OptionsDraft {
  text: readonly string[];
  characters: number | undefined;
  glossaryId: string | undefined;
}

type Parameter = BodyParameter<Draft>;

const PARAMETERS = {
  text: {
    schema: Type.Array(Type.String({ minLength: 1 }), {
      minItems: 1,
      maxItems: TEXTS_MAX,
      description: 'What to translate: none of them empty. The plan limits their characters in total.',
    }),
    read: readTexts,
  },
  target_lang: {
    schema: Type.String({ description: 'A target code, in upper or lower case; one that is offered for the source.' }),
    read(value, { options }, { languages }) {
      const targetLang = languages.target(value);
      if (targetLang === undefined) return NO_TARGET;
      options.targetLang = targetLang;
      return undefined;
    },
  },
  source_lang: {
    schema: Type.Optional(
      Type.String({ description: 'A source code, in upper or lower case. Required with a glossary; without it the engine finds out.' }),
    ),
    read(value, { options }, { languages }) {
      const sourceLang = languages.source(value);
      if (sourceLang === undefined && value !== undefined) return NO_SOURCE;
      options.sourceLang = sourceLang;
      const { targetLang } = options;
      return languages.offers(sourceLang, targetLang) ? undefined : pairNotOffered(sourceLang, targetLang, languages);
    },
  },
  ...OPTION_PARAMETERS,
  glossary_id: {
    schema: Type.Optional(Type.String({ description: 'A glossary of the same pair of languages.' })),
    read: readGlossary,
  },
} as const satisfies Readonly<Record<string, Parameter>>;

type Schemas = { readonly [Name in keyof typeof PARAMETERS]: (typeof PARAMETERS)[Name]['schema'] };
const schemas = Object.fromEntries(Object.entries(PARAMETERS).map(([name, { schema }]) => [name, schema]));

/** The body in the API reference. */
export const TranslateBody = Type.Object(schemas as Schemas, { additionalProperties: false });

const NAMES: ReadonlySet<string> = new Set(Object.keys(PARAMETERS));
const ROWS: readonly (readonly [name: string, parameter: Parameter])[] = Object.entries(PARAMETERS);
const NO_TARGET = refuse('invalid_target_lang', 'target_lang: must be one of the target codes that GET /v1/languages?type=target lists.');
const NO_SOURCE = refuse(
  'invalid_source_lang',
  'source_lang: must be one of the codes that GET /v1/languages lists; regional variants are targets only.',
);

type JudgedBody =
  | { readonly kind: 'valid'; readonly request: TranslateRequest }
  | { readonly kind: 'invalid'; readonly refusal: Refusal; readonly characters: number | undefined };

/** Validates a parsed JSON value: the first rule that it breaks refuses it. */
export function judgeTranslateBody(value: unknown, languages: Languages, engines?: EngineOffer): JudgedBody {
  const draft: Draft = { text: [], characters: undefined, options: { ...NOTHING_CHOSEN, targetLang: '' }, glossaryId: undefined };
  const refusal = readBody(value, draft, { languages, engines });
  const { characters } = draft;
  return refusal === undefined && characters !== undefined
    ? { kind: 'valid', request: { ...draft, characters } }
    : { kind: 'invalid', refusal: refusal!, characters };
}

function readBody(value: unknown, draft: Draft, offered: Offered): Refusal | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return invalid('body: must be a JSON object with the members text and target_lang.');
  }
  const unknown = unknownParameters(Object.keys(value));
  if (unknown !== undefined) return unknown;
  for (const [name, parameter] of ROWS) {
    const refusal = parameter.read((value as JsonMembers)[name], draft, offered);
    if (refusal !== undefined) return refusal;
  }
  return undefined;
}

function unknownParameters(names: readonly string[]): Refusal | undefined {
  const unknown = unknownAmong(names, NAMES);
  return unknown === undefined ? undefined : invalid(`Unknown parameter: ${unknown}. Accepted are ${[...NAMES].join(', ')}.`);
}

/** For a body that has far too many values for its members to be read (`TooManyValues`). */
export function tooManyTexts(names: readonly string[], member: string | undefined): Refusal | undefined {
  return member === 'text' ? (unknownParameters(names) ?? TOO_MANY_TEXTS) : undefined;
}

function readTexts(text: unknown, draft: Draft): Refusal | undefined {
  if (!Array.isArray(text)) return invalid('text: must be an array of 1 to 50 strings.');
  if (text.length === 0) return invalid('text: must hold at least one string.');
  if (text.length > TEXTS_MAX) return TOO_MANY_TEXTS;
  const entries: readonly unknown[] = text;
  let characters = 0;
  for (let index = 0; index < entries.length; index++) {
    const entry = entries[index];
    if (typeof entry !== 'string') return invalid(`text[${index}]: must be a string.`);
    if (entry === '') return invalid(`text[${index}]: must not be an empty string.`);
    if (!entry.isWellFormed()) return loneSurrogate(`text[${index}]`);
    characters += countCharacters(entry);
  }
  draft.text = text as readonly string[];
  draft.characters = characters;
  return undefined;
}

/** Whatever the request wants of the engines is known by then. */
function readGlossary(value: unknown, draft: Draft, { engines }: Offered): Refusal | undefined {
  const { options } = draft;
  if (value !== undefined && typeof value !== 'string') return invalid('glossary_id: must be a string.');
  const hasGlossary = value !== undefined;
  // Most want nothing, and the pair has been judged.
  const hasWants = wantsOf(options, hasGlossary).length > 0;
  const refusal = hasWants && engines !== undefined ? refusalFor(engines, options, hasGlossary) : undefined;
  if (refusal !== undefined) return refusal;
  if (value === undefined) return undefined;
  if (options.sourceLang === undefined) return invalid('source_lang: is required when glossary_id is used.');
  draft.glossaryId = canonicalUlid(value);
  return draft.glossaryId === undefined ? NO_SUCH_GLOSSARY : undefined;
}
