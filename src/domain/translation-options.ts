// A translation and its options, each with what callers may send of it and what engines must be able
// to do for it: engine work, its body and the batch key follow.
import type { TSchema } from 'typebox';
import type { Refusal } from '../core/outcome.ts';
import { refuse } from '../core/problem.ts';
import { countCharacters } from './characters.ts';
import type { EngineOffer } from './engine-offer.ts';
import type { Languages } from './languages.ts';
import { noFormality, NO_GLOSSARIES } from './refusals.ts';
import { Type } from './typebox.ts';

/** `text` is plain text; in the other formats, markup is preserved. */
export type TextFormat = 'text' | 'html' | 'xml';

/** A glossary as passed to engines. */
export interface EngineGlossary {
  readonly id: string;
  /** For a large glossary, built on first access: adapters that can should use `pieces`. */
  readonly entries: Readonly<Record<string, string>>;
  /** As JSON in UTF-8, sent unchanged: entries separated by commas, without the braces. */
  readonly pieces?: readonly Uint8Array[];
}

export interface Translation {
  readonly text: string;
  /** As reported by the engine, unverified; `undefined` if it reported none. */
  readonly detectedSourceLanguage: string | undefined;
  /** Answered without the engine, and not charged (`spareCharacters`). */
  readonly isSpared?: true;
}

/** The wording, beyond formality: only engines that declare it get such requests. */
export interface StyleRules {
  /** Sentences of the caller's. */
  readonly instructions: readonly string[] | undefined;
  /** Rules that are stored at the engine, by their id there. */
  readonly styleId: string | undefined;
  /** A translation memory that is stored at the engine, by its id there. */
  readonly memoryId: string | undefined;
  /** How similar a text of the memory must be, in per cent. */
  readonly memoryThreshold: number | undefined;
}

/** Texts in one call share all of these. Codes are canonical; unset options are `undefined`. */
export interface TranslationOptions {
  readonly sourceLang: string | undefined;
  readonly targetLang: string;
  /** Also `undefined` for `default`, and for a `prefer_` form that the target does not support. */
  readonly formality: string | undefined;
  /** A hint, which an engine may ignore. */
  readonly context: string | undefined;
  readonly glossary: EngineGlossary | undefined;
  readonly format: TextFormat;
  /** Elements whose content is left unchanged; with `xml` only. */
  readonly ignoreTags: readonly string[] | undefined;
  readonly style: StyleRules | undefined;
}

/** The default values; there is no default target. */
export const NOTHING_CHOSEN: Omit<TranslationOptions, 'targetLang'> = {
  sourceLang: undefined,
  formality: undefined,
  context: undefined,
  glossary: undefined,
  format: 'text',
  ignoreTags: undefined,
  style: undefined,
};

export const TRANSLATION_OPTIONS = ['targetLang', ...Object.keys(NOTHING_CHOSEN)] as readonly (keyof TranslationOptions)[];

/**
 * By JSON name, in the order in which they are sent; `JSON.stringify` omits `undefined`. As a literal:
 * iterating over options takes twice as long. Without `style`, which engines of ours do not take.
 */
export function namedOptions(text: readonly string[], options: TranslationOptions) {
  const { glossary, format } = options;
  return {
    text,
    source_lang: options.sourceLang,
    target_lang: options.targetLang,
    formality: options.formality,
    context: options.context,
    glossary: glossary === undefined ? undefined : { id: glossary.id, entries: glossary.entries },
    // Plain text is the engine's default.
    format: format === 'text' ? undefined : format,
    ignore_tags: options.ignoreTags,
  };
}

/** As far as they have been read. */
export interface OptionsDraft {
  readonly options: { -readonly [Name in keyof TranslationOptions]: TranslationOptions[Name] };
}

/** What is available; without `engines` everything is, for every pair, glossaries included. */
export interface Offered {
  readonly languages: Languages;
  readonly engines: EngineOffer | undefined;
}

/** A parameter of `POST /v1/translate`. */
export interface BodyParameter<Draft = OptionsDraft> {
  /** For the API reference. A test compares it with the rule. */
  readonly schema: TSchema;
  /** Also called without a value. What the parameters before it mean is in the draft. */
  readonly read: (value: unknown, draft: Draft, offered: Offered) => Refusal | undefined;
}

export const FORMALITIES = ['default', 'more', 'less', 'prefer_more', 'prefer_less'] as const;
const CONTEXT_CHARACTERS_MAX = 2000;

/** Those that are options by the same name: none is accepted and then dropped. */
export const OPTION_PARAMETERS = {
  formality: {
    schema: Type.Optional(
      Type.Enum(FORMALITIES, {
        type: 'string',
        description: '`more` and `less` are refused where the target does not support them; the `prefer_` forms fall back silently.',
      }),
    ),
    read: readFormality,
  },
  context: {
    schema: Type.Optional(
      Type.String({ maxLength: CONTEXT_CHARACTERS_MAX, description: 'Helps the engine; is neither translated nor charged.' }),
    ),
    read: readContext,
  },
} as const satisfies { readonly [Name in keyof ReturnType<typeof namedOptions>]?: BodyParameter };

function readFormality(value: unknown, { options }: OptionsDraft, { languages, engines }: Offered): Refusal | undefined {
  const formality = FORMALITIES.find((one) => one === value);
  if (formality === undefined) return value === undefined ? undefined : invalid(`formality: must be one of ${FORMALITIES.join(', ')}.`);
  if (formality === 'default') return undefined;
  if ((engines ?? languages).supportsFormality(options.targetLang, options.sourceLang)) options.formality = formality;
  else if (formality === 'more' || formality === 'less') return noFormality(formality);
  return undefined;
}

function readContext(context: unknown, { options }: OptionsDraft): Refusal | undefined {
  if (context === undefined) return undefined;
  if (typeof context !== 'string') return invalid('context: must be a string.');
  if (!context.isWellFormed()) return loneSurrogate('context');
  if (context.length > CONTEXT_CHARACTERS_MAX && countCharacters(context) > CONTEXT_CHARACTERS_MAX) {
    return invalid(`context: may be at most ${CONTEXT_CHARACTERS_MAX} characters long.`);
  }
  options.context = context;
  return undefined;
}

export function invalid(detail: string): Refusal {
  return refuse('validation_error', detail);
}

export function loneSurrogate(field: string): Refusal {
  return invalid(`${field}: holds half of a surrogate pair, which is not a character; send well-formed Unicode.`);
}

/** What an engine can do. All else is rejected or withheld from it, never dropped silently. */
export interface EngineCapabilities {
  /** Texts per call. */
  readonly textsMax: number;
  readonly formats: readonly TextFormat[];
  readonly formality: boolean;
  /** Context is only a hint and may be omitted. */
  readonly context: boolean;
  readonly glossaries: boolean;
  /** Takes a caller's instructions for the wording. By default not. */
  readonly instructions: boolean;
  /** Takes ids of style rules and translation memories stored at the engine. By default not. */
  readonly styles: boolean;
  /** Detects and reports the language of a text sent without one. */
  readonly detection: boolean;
  /** Texts of several callers may share a call: none affects the translation of another. */
  readonly sharedCalls: boolean;
}

interface Capability<T> {
  /** By default nothing that protocols written before it was introduced would drop. */
  readonly assumed: T;
  /** What the manual says of it. */
  readonly manual: string;
}

export const CAPABILITIES: { readonly [Name in keyof EngineCapabilities]: Capability<EngineCapabilities[Name]> } = {
  textsMax: { assumed: Infinity, manual: 'texts per call' },
  formats: { assumed: ['text'], manual: 'formats' },
  formality: { assumed: true, manual: 'formality; otherwise `more` and `less` are refused' },
  context: { assumed: true, manual: 'context; otherwise left out' },
  glossaries: { assumed: true, manual: 'glossaries; otherwise a `glossary_id` is refused' },
  instructions: { assumed: false, manual: '`custom_instructions` of the DeepL API; otherwise refused' },
  styles: { assumed: false, manual: '`style_id` and translation memories of the DeepL API; otherwise refused' },
  detection: { assumed: true, manual: 'reports the language of a text without `source_lang`' },
  sharedCalls: { assumed: true, manual: '`engine.batch`; otherwise refused' },
};

const ASSUMED = Object.fromEntries(
  Object.entries(CAPABILITIES).map(([name, { assumed }]) => [name, assumed]),
) as unknown as EngineCapabilities;

/** What the operator's own engine can do: it gets all of `namedOptions`. */
export const NAMED_CAN: Partial<EngineCapabilities> = { formats: ['text', 'html', 'xml'] };

/** All capabilities, with defaults for those that are not declared. */
export function capabilitiesOf(declared: Partial<EngineCapabilities> = {}): EngineCapabilities {
  return { ...ASSUMED, ...declared };
}

type Ability = Exclude<keyof EngineCapabilities, 'textsMax' | 'formats'>;

/** What at least one of several engines can do. */
export function anyOf(all: readonly EngineCapabilities[]): EngineCapabilities {
  const textsMax = Math.max(0, ...all.map((one) => one.textsMax));
  const formats = [...new Set(all.flatMap((one) => one.formats))];
  const { textsMax: _texts, formats: _formats, ...abilities } = ASSUMED;
  const can = (Object.keys(abilities) as Ability[]).map((ability) => [ability, all.some((one) => one[ability])]);
  return { textsMax, formats, ...(Object.fromEntries(can) as typeof abilities) };
}

interface WantKind {
  readonly isMet: (can: EngineCapabilities) => boolean;
  /** What is said of an engine that does not meet it, for operators. */
  readonly lack: string;
  /** The refusal if no engine meets it. */
  readonly refusal: (options: TranslationOptions) => Refusal;
}

/**
 * What not every engine supports. `formality` stands for `more` or `less`: the `prefer_` forms
 * require nothing. `styles` stands for ids of style rules and memories.
 */
export const WANTS = {
  formality: {
    isMet: (can) => can.formality,
    lack: 'does not support formality for this target',
    refusal: ({ formality = '' }) => noFormality(formality),
  },
  glossary: { isMet: (can) => can.glossaries, lack: 'takes no glossaries', refusal: () => NO_GLOSSARIES },
  instructions: {
    isMet: (can) => can.instructions,
    lack: 'takes no instructions',
    refusal: () => refuse('validation_error', 'instructions: the engine of this service takes none.'),
  },
  styles: {
    isMet: (can) => can.styles,
    lack: 'has no style rules or translation memories',
    refusal: () => refuse('validation_error', 'style: the engine of this service has no style rules or translation memories.'),
  },
  html: markup('html'),
  xml: markup('xml'),
} as const satisfies Readonly<Record<string, WantKind>>;

export type Want = keyof typeof WANTS;
export type StyleWant = Extract<Want, 'instructions' | 'styles'>;

function markup(name: Exclude<TextFormat, 'text'>): WantKind {
  return {
    isMet: ({ formats }) => formats.includes(name),
    lack: `does not support ${name}`,
    refusal: () => refuse('validation_error', `format: the engine of this service does not handle ${name}.`),
  };
}

const NOTHING: readonly Want[] = [];

/**
 * What a request requires, in the order of its refusals. `hasGlossary` if the entries are not known
 * yet. Context is a hint, and ignored tags only come with `xml`.
 */
export function wantsOf(options: TranslationOptions, hasGlossary = options.glossary !== undefined): readonly Want[] {
  const { formality, style, format } = options;
  const hasFormality = formality === 'more' || formality === 'less';
  // Most want nothing, and allocate nothing.
  if (!hasFormality && !hasGlossary && style === undefined && format === 'text') return NOTHING;
  const wants: Want[] = [];
  if (hasFormality) wants.push('formality');
  if (hasGlossary) wants.push('glossary');
  if (style !== undefined) wants.push(...wantsOfStyle(style));
  if (format !== 'text') wants.push(format);
  return wants;
}

export function wantsOfStyle({ instructions, styleId, memoryId, memoryThreshold }: StyleRules): readonly StyleWant[] {
  const wants: StyleWant[] = [];
  if (instructions !== undefined) wants.push('instructions');
  if (styleId !== undefined || memoryId !== undefined || memoryThreshold !== undefined) wants.push('styles');
  return wants;
}

/** Equal if and only if the options are; a glossary is represented by its id. */
export function keyOfOptions(options: TranslationOptions): string {
  let key = '';
  for (const name of TRANSLATION_OPTIONS) {
    const value = options[name];
    // The length prefix prevents different values from producing the same key.
    if (typeof value === 'string') key += `${value.length}:${value}`;
    else if (value !== undefined) key += JSON.stringify(keyPartOf(value));
    key += '|';
  }
  return key;
}

function keyPartOf(value: EngineGlossary | StyleRules | readonly string[]): unknown {
  if ('id' in value) return value.id;
  // The order of an object's members is its maker's.
  return 'instructions' in value ? [value.styleId, value.memoryId, value.memoryThreshold, value.instructions] : value;
}

/**
 * Whether all are identical, comparing glossaries, lists and rules by reference. Much cheaper than
 * comparing keys; `false` proves nothing.
 */
export function sameOptions(one: TranslationOptions, other: TranslationOptions): boolean {
  return TRANSLATION_OPTIONS.every((name) => one[name] === other[name]);
}
