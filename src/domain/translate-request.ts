// The body of POST /v1/translate: its schema, and its rules in the order of the interface's parameter table.
import type { TSchema } from 'typebox';
import { refuse } from '../core/problem.ts';
import type { Refusal } from '../core/outcome.ts';
import { unknownAmong, schemaRefusal } from './caller-words.ts';
import { countCharacters } from './characters.ts';
import type { JsonMembers, ListLimit } from './json-body.ts';
import type { Languages } from './languages.ts';
import { lackOf, notAble, wantsOf } from './engine-offer.ts';
import type { EngineOffer } from './engine-offer.ts';
import { noFormality, NO_SUCH_GLOSSARY, pairNotOffered } from './refusals.ts';
import { Compile, Type } from './typebox.ts';
import type { NamedOptions, TranslationOptions } from './translation-options.ts';
import { canonicalUlid } from './ulid.ts';

const TEXTS_MAX = 50;
const CONTEXT_CHARACTERS_MAX = 2000;
export const TEXTS_LIMIT: ListLimit = {
  name: 'text',
  entriesMax: TEXTS_MAX,
  refusal: refuse('too_many_texts', `text: may hold at most ${TEXTS_MAX} entries.`, { max_texts: TEXTS_MAX }),
  namesRefusal: unknownParameters,
};
export const FORMALITIES = ['default', 'more', 'less', 'prefer_more', 'prefer_less'] as const;

/** The schema, also used in the API reference. Rules that depend on languages or count code points are checked below. */
export const TranslateBody = Type.Object(
  {
    text: Type.Array(Type.String({ minLength: 1 }), {
      minItems: 1,
      maxItems: TEXTS_MAX,
      description: 'What to translate: none of them empty. The plan limits their characters in total.',
    }),
    target_lang: Type.String({ description: 'A target code, in upper or lower case; one that is offered for the source.' }),
    source_lang: Type.Optional(
      Type.String({ description: 'A source code, in upper or lower case. Required with a glossary; without it the engine finds out.' }),
    ),
    formality: Type.Optional(
      Type.Enum(FORMALITIES, {
        type: 'string',
        description: '`more` and `less` are refused where the target does not support them; the `prefer_` forms fall back silently.',
      }),
    ),
    context: Type.Optional(
      Type.String({ maxLength: CONTEXT_CHARACTERS_MAX, description: 'Helps the engine; is neither translated nor charged.' }),
    ),
    glossary_id: Type.Optional(Type.String({ description: 'A glossary of the same pair of languages.' })),
    // Whatever else is accepted is an option by that name: none is accepted and then dropped.
  } satisfies { readonly [Name in 'text' | 'glossary_id' | keyof NamedOptions]?: TSchema },
  { additionalProperties: false },
);

/** A request that passed every rule the gateway can check without the store. Codes are canonical. */
export interface TranslateRequest {
  readonly text: readonly string[];
  readonly characters: number;
  /** As sent to the engine, except for the glossary: only its id is known so far. */
  readonly options: TranslationOptions;
  readonly glossaryId: string | undefined;
}

/** The result of validating a body. */
export type JudgedBody =
  | { readonly kind: 'valid'; readonly request: TranslateRequest }
  /** `characters` is set if all text rules up to the total length passed. */
  | { readonly kind: 'invalid'; readonly refusal: Refusal; readonly characters: number | undefined };

let shape: ReturnType<typeof Compile> | undefined;
const PARAMETERS: ReadonlySet<string> = new Set(Object.keys(TranslateBody.properties));

/** Compiles the schema check: a gateway does so before its first request; commands that only need the schema do not. */
export function compileTranslateBody(): ReturnType<typeof Compile> {
  return (shape ??= Compile(TranslateBody));
}

/**
 * Validates a parsed JSON value, walking it only as deep as the schema goes. What the schema refuses is refused: by the first rule
 * that finds the fault, otherwise in the schema's own words. `engines` is what is available for each pair;
 * without it, everything is available for every pair, glossaries included.
 */
export function judgeTranslateBody(value: unknown, languages: Languages, engines?: EngineOffer): JudgedBody {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return invalid('body: must be a JSON object with the members text and target_lang.');
  }
  const members = value as JsonMembers;
  const fits = (shape ?? compileTranslateBody()).Check(value);
  if (!fits) {
    const refusal = unknownParameters(Object.keys(members)) ?? textShape(members['text']);
    if (refusal !== undefined) return { kind: 'invalid', refusal, characters: undefined };
  }
  const text = members['text'] as readonly string[];
  const characters = measure(text);
  if (typeof characters !== 'number') return { kind: 'invalid', refusal: characters, characters: undefined };
  const judged = judgeOptions(members, text, characters, languages, engines);
  if (fits || judged.kind === 'invalid') return judged;
  return { kind: 'invalid', refusal: schemaRefusal(TranslateBody, value), characters };
}

function judgeOptions(
  members: JsonMembers,
  text: readonly string[],
  characters: number,
  languages: Languages,
  engines: EngineOffer | undefined,
): JudgedBody {
  const no = (refusal: Refusal): JudgedBody => ({ kind: 'invalid', refusal, characters });
  const targetLang = languages.target(members['target_lang']);
  if (targetLang === undefined) {
    return no(refuse('invalid_target_lang', 'target_lang: must be one of the target codes that GET /v1/languages?type=target lists.'));
  }
  const sourceLang = languages.source(members['source_lang']);
  if (sourceLang === undefined && members['source_lang'] !== undefined) {
    return no(
      refuse(
        'invalid_source_lang',
        'source_lang: must be one of the codes that GET /v1/languages lists; regional variants are targets only.',
      ),
    );
  }
  if (!languages.offers(sourceLang, targetLang)) return no(pairNotOffered(sourceLang, targetLang, languages));
  const wanted = members['formality'];
  const formality =
    wanted === undefined ? undefined : judgeFormality(wanted, (engines ?? languages).supportsFormality(targetLang, sourceLang));
  if (typeof formality === 'object') return no(formality);
  const context = members['context'];
  const contextFault = context === undefined ? undefined : judgeContext(context);
  if (contextFault !== undefined) return no(contextFault);
  // In full, so that a new option that is not read here does not compile.
  const options: TranslationOptions = {
    sourceLang,
    targetLang,
    formality,
    context: context as string | undefined,
    glossary: undefined,
    format: 'text',
    ignoreTags: undefined,
    style: undefined,
  };
  const glossary = members['glossary_id'];
  if (glossary !== undefined && typeof glossary !== 'string') return no(refuse('validation_error', 'glossary_id: must be a string.'));
  // Whatever an option wants of the engines, a later one included. Most want nothing, and the pair has been judged.
  const hasWants = wantsOf(options, glossary !== undefined).length > 0;
  const lack = hasWants && engines !== undefined ? lackOf(engines, options, glossary !== undefined) : undefined;
  if (engines !== undefined && lack !== undefined) return no(notAble(lack, engines, options));
  const glossaryId = glossary === undefined ? undefined : judgeGlossary(glossary, sourceLang);
  if (typeof glossaryId === 'object') return no(glossaryId);
  return { kind: 'valid', request: { text, characters, options, glossaryId } };
}

function unknownParameters(names: readonly string[]): Refusal | undefined {
  const unknown = unknownAmong(names, PARAMETERS);
  if (unknown === undefined) return undefined;
  return refuse('validation_error', `Unknown parameter: ${unknown}. Accepted are ${[...PARAMETERS].join(', ')}.`);
}

function textShape(text: unknown): Refusal | undefined {
  if (!Array.isArray(text)) return refuse('validation_error', 'text: must be an array of 1 to 50 strings.');
  if (text.length === 0) return refuse('validation_error', 'text: must hold at least one string.');
  if (text.length > TEXTS_MAX) return TEXTS_LIMIT.refusal;
  for (const [index, entry] of text.entries()) {
    if (typeof entry !== 'string') return refuse('validation_error', `text[${index}]: must be a string.`);
    if (entry === '') return refuse('validation_error', `text[${index}]: must not be an empty string.`);
  }
  return undefined;
}

function measure(text: readonly string[]): number | Refusal {
  let characters = 0;
  for (let index = 0; index < text.length; index++) {
    const entry = text[index]!;
    if (!entry.isWellFormed()) return loneSurrogate(`text[${index}]`);
    characters += countCharacters(entry);
  }
  return characters;
}

function judgeFormality(value: unknown, isSupported: boolean): string | undefined | Refusal {
  if (value === 'default') return undefined;
  if (typeof value !== 'string' || !(FORMALITIES as readonly string[]).includes(value)) {
    return refuse('validation_error', `formality: must be one of ${FORMALITIES.join(', ')}.`);
  }
  if (isSupported) return value;
  if (value.startsWith('prefer_')) return undefined;
  return noFormality(value);
}

function judgeContext(context: unknown): Refusal | undefined {
  if (typeof context !== 'string') return refuse('validation_error', 'context: must be a string.');
  if (!context.isWellFormed()) return loneSurrogate('context');
  if (context.length > CONTEXT_CHARACTERS_MAX && countCharacters(context) > CONTEXT_CHARACTERS_MAX) {
    return refuse('validation_error', `context: may be at most ${CONTEXT_CHARACTERS_MAX} characters long.`);
  }
  return undefined;
}

function judgeGlossary(value: string, sourceLang: string | undefined): string | Refusal {
  if (sourceLang === undefined) return refuse('validation_error', 'source_lang: is required when glossary_id is used.');
  return canonicalUlid(value) ?? NO_SUCH_GLOSSARY;
}

/** For a body that cannot be validated further. */
function invalid(detail: string): JudgedBody {
  return { kind: 'invalid', refusal: refuse('validation_error', detail), characters: undefined };
}

function loneSurrogate(field: string): Refusal {
  return refuse('validation_error', `${field}: holds half of a surrogate pair, which is not a character; send well-formed Unicode.`);
}
